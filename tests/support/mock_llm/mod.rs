//! A model service on loopback for tests: real HTTP/1.1 over raw TCP, so that chunk borders,
//! delays, stalls and resets are the test's own. It plays queued replies, records every request
//! and refuses histories that the real services refuse. It knows nothing of the program under
//! test, so every test binary can include it.
//!
//! ```text
//! let mock = MockLlm::start().await;            // or MockLlm::spawn_thread() without a runtime
//! mock.push(anthropic::text("Hello"));          // one reply per request, in order
//! … point a base URL at mock.base_url() …
//! mock.requests()                               // what was asked
//! ```
#![allow(dead_code, unused_imports)]

pub(crate) mod anthropic;
mod anthropic_rules;
pub(crate) mod gemini;
mod gemini_rules;
pub(crate) mod openai;
mod openai_rules;
mod reply;
pub(crate) mod responses;
mod responses_rules;
mod serve;
mod validate;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;
use tokio::net::TcpListener;

pub(crate) use reply::{Reply, Step};

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// `GET` or `POST`.
    pub(crate) method: String,
    /// Path with query.
    pub(crate) path: String,
    /// Header names in lower case.
    pub(crate) headers: HashMap<String, String>,
    /// The body as JSON; null when there is none.
    pub(crate) body: Value,
    /// The body's bytes.
    pub(crate) raw: Vec<u8>,
    /// Why it was refused, if it was.
    pub(crate) violation: Option<String>,
}

/// Settings and records, shared with the connections.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) queue: VecDeque<Reply>,
    pub(crate) fallback: Option<Reply>,
    pub(crate) answers: Option<fn(&Recorded) -> Reply>,
    pub(crate) routes: HashMap<String, Reply>,
    pub(crate) requests: Vec<Recorded>,
    pub(crate) rules: Rules,
    /// Connections that the client closed before a reply was finished.
    pub(crate) aborted: usize,
}

/// What the service insists on.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub(crate) struct Rules {
    /// Refuse other keys than this one with 401.
    pub(crate) key: Option<String>,
    /// Do not check the history at all.
    pub(crate) lenient: bool,
    /// Take `reasoning_content` in assistant messages.
    pub(crate) takes_reasoning: bool,
    /// Insist on this `reasoning_content` in every assistant message with calls.
    pub(crate) needs_reasoning: Option<String>,
    /// Signatures this service issued, with the thinking text they cover; others are refused.
    /// `None`: any signature passes.
    pub(crate) signatures: Option<HashMap<String, String>>,
    /// The model does not think: refuse whoever asks for its thoughts (responses).
    pub(crate) plain_model: bool,
    /// Nobody has proved who they are: refuse whoever asks for a summary of thoughts (responses).
    pub(crate) no_summaries: bool,
    /// Refuse calls of the current turn without a signature (generateContent).
    pub(crate) needs_signatures: bool,
}

/// The running service. Dropping it closes the port.
#[derive(Debug)]
pub(crate) struct MockLlm {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    /// Ends the accept loop when dropped.
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl MockLlm {
    /// Starts on the current runtime.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let state = Arc::new(Mutex::new(State::default()));
        tokio::spawn(serve::accept(listener, Arc::clone(&state), stopped));
        Self { address, state, _stop: stop }
    }

    /// Starts on a thread with a runtime of its own, for tests without one.
    pub(crate) fn spawn_thread() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("non-blocking");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).expect("a listener");
                serve::accept(listener, shared, stopped).await;
            });
        });
        Self { address, state, _stop: stop }
    }

    /// `http://127.0.0.1:<port>`, without a version.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues the reply to the next request that has none yet.
    pub(crate) fn push(&self, reply: Reply) -> &Self {
        self.lock().queue.push_back(reply);
        self
    }

    /// The reply when the queue is empty; without one such a request is refused with 500.
    pub(crate) fn otherwise(&self, reply: Reply) -> &Self {
        self.lock().fallback = Some(reply);
        self
    }

    /// Makes a reply to every request for which none is queued.
    pub(crate) fn answers(&self, answers: fn(&Recorded) -> Reply) -> &Self {
        self.lock().answers = Some(answers);
        self
    }

    /// The reply to every request of that method and path, for example `GET /v1/models`.
    pub(crate) fn route(&self, method_and_path: &str, reply: Reply) -> &Self {
        self.lock().routes.insert(method_and_path.to_owned(), reply);
        self
    }

    /// Changes what the service insists on.
    pub(crate) fn rules(&self, change: impl FnOnce(&mut Rules)) -> &Self {
        change(&mut self.lock().rules);
        self
    }

    /// Every request so far, refused ones included.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.lock().requests.clone()
    }

    /// Bodies of the model calls so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let requests = self.requests().into_iter().filter(|request| request.method == "POST");
        requests.map(|request| request.body).collect()
    }

    /// What was wrong with the requests so far; empty is good.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.lock().requests.iter().filter_map(|request| request.violation.clone()).collect()
    }

    /// Queued replies that nobody asked for yet.
    pub(crate) fn left(&self) -> usize {
        self.lock().queue.len()
    }

    /// Connections that the client closed in the middle of a reply.
    pub(crate) fn aborted(&self) -> usize {
        self.lock().aborted
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test thread panicked while holding this")
    }
}

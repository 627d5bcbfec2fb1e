//! The HTTP side: reads requests, picks replies, writes them step by step.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::reply::{Reply, Step};
use super::{Recorded, Rules, State, gemini, gemini_rules};
use super::{anthropic_rules, openai_rules, responses_rules};

type Shared = Arc<Mutex<State>>;

pub(super) async fn accept(
    listener: TcpListener,
    state: Shared,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((socket, _)) = accepted {
                    let _nodelay = socket.set_nodelay(true);
                    connections.spawn(connection(socket, Arc::clone(&state)));
                }
            }
            _ = &mut stopped => break,
        }
    }
}

async fn connection(mut socket: TcpStream, state: Shared) {
    let mut buffer = Vec::new();
    while let Ok(Some(mut request)) = read_request(&mut socket, &mut buffer).await {
        let reply = choose(&state, &mut request);
        state.lock().expect("state").requests.push(request);
        match write_reply(&mut socket, reply).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => {
                state.lock().expect("state").aborted += 1;
                break;
            }
        }
    }
}

/// A refusal of the history comes before any scripted reply, which stays queued.
fn choose(state: &Shared, request: &mut Recorded) -> Reply {
    let mut state = state.lock().expect("state");
    let path = request.path.split('?').next().unwrap_or_default().to_owned();
    let path = path.as_str();
    // The list of models is as closed as the models are.
    let closed = request.method == "POST" || path.ends_with("/models") || path.ends_with("/key");
    if let Some(key) = state.rules.key.as_ref().filter(|_| closed) {
        let bearer = format!("Bearer {key}");
        let given =
            ["x-api-key", "x-goog-api-key", "authorization"].map(|name| request.headers.get(name));
        if !given.iter().flatten().any(|value| **value == *key || **value == bearer) {
            return Reply::json(
                401,
                &json!({"type": "error", "error": {
                    "type": "authentication_error", "message": "invalid x-api-key"}}),
            );
        }
    }
    if let Some(reply) = state.routes.get(&format!("{} {path}", request.method)) {
        return reply.clone();
    }
    if request.method != "POST" {
        return Reply::json(404, &json!({"error": {"message": format!("unknown path {path}")}}));
    }
    let problem = if state.rules.lenient { None } else { judge(request, path, &state.rules).err() };
    if let Some(problem) = problem {
        request.violation = Some(problem.clone());
        if path.contains("enerateContent") {
            return gemini::refusal(400, "INVALID_ARGUMENT", &problem);
        }
        return Reply::json(
            400,
            &json!({"type": "error", "error": {
                "type": "invalid_request_error", "message": problem}}),
        );
    }
    let reply = state.queue.pop_front();
    let reply = reply.or_else(|| state.answers.map(|answers| answers(request)));
    let reply = reply.or_else(|| state.fallback.clone());
    reply.unwrap_or_else(|| {
        request.violation = Some("no reply was queued for this request".to_owned());
        Reply::json(500, &json!({"error": {"message": "no reply queued"}}))
    })
}

/// What is wrong with a request, by the rules of the format that its path names.
pub(super) fn judge(request: &Recorded, path: &str, rules: &Rules) -> Result<(), String> {
    if path.ends_with("/messages") {
        anthropic_rules::check(&request.body, rules)
    } else if path.ends_with("/chat/completions") {
        openai_rules::check(&request.body, rules)
    } else if path.ends_with("/responses") {
        responses_rules::check(&request.body, rules)
    } else if path.contains(":streamGenerateContent") || path.contains(":generateContent") {
        gemini_rules::check(request, rules)
    } else {
        Err(format!("unknown path {path}"))
    }
}

async fn read_request(
    socket: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Recorded>> {
    let head_end = loop {
        if let Some(at) = find(buffer, b"\r\n\r\n") {
            break at;
        }
        if socket.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    buffer.drain(..head_end + 4);
    let mut lines = head.split("\r\n");
    let mut start = lines.next().unwrap_or_default().split(' ');
    let method = start.next().unwrap_or_default().to_owned();
    let path = start.next().unwrap_or_default().to_owned();
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while buffer.len() < length {
        if socket.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let raw: Vec<u8> = buffer.drain(..length).collect();
    let body = serde_json::from_slice(&raw).unwrap_or(Value::Null);
    Ok(Some(Recorded { method, path, headers, body, raw, violation: None }))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Returns whether the connection can take another request.
async fn write_reply(socket: &mut TcpStream, reply: Reply) -> io::Result<bool> {
    wait(socket, reply.before).await?;
    let mut head = format!("HTTP/1.1 {} Mock\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
    }
    head.push_str(if reply.chunked {
        "transfer-encoding: chunked\r\n\r\n"
    } else {
        "connection: close\r\n\r\n"
    });
    socket.write_all(head.as_bytes()).await?;
    for step in reply.steps {
        match step {
            Step::Bytes(bytes) if bytes.is_empty() => {}
            Step::Bytes(bytes) if reply.chunked => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend_from_slice(&bytes);
                chunk.extend_from_slice(b"\r\n");
                socket.write_all(&chunk).await?;
            }
            Step::Bytes(bytes) => socket.write_all(&bytes).await?,
            Step::Delay(delay) => wait(socket, delay).await?,
            Step::Stall => return wait(socket, Duration::MAX).await.map(|()| false),
            Step::Reset => {
                // Without lingering a close with unsent data becomes a reset; give the bytes
                // before it a moment to arrive.
                tokio::time::sleep(Duration::from_millis(30)).await;
                reset(socket);
                return Ok(false);
            }
        }
        socket.flush().await?;
    }
    if reply.chunked {
        socket.write_all(b"0\r\n\r\n").await?;
        return Ok(true);
    }
    socket.shutdown().await?;
    Ok(false)
}

#[allow(deprecated)]
fn reset(socket: &TcpStream) {
    let _set = socket.set_linger(Some(Duration::ZERO));
}

/// Waits, but notices when the client leaves.
async fn wait(socket: &mut TcpStream, delay: Duration) -> io::Result<()> {
    if delay.is_zero() {
        return Ok(());
    }
    let mut byte = [0_u8; 1];
    tokio::select! {
        () = tokio::time::sleep(delay) => Ok(()),
        read = socket.peek(&mut byte) => match read {
            Ok(0) | Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
            Ok(_) => { tokio::time::sleep(delay).await; Ok(()) }
        },
    }
}

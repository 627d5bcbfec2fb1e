//! Which addresses a page may be fetched from: the public ones, unless the user named an exception.
//! A model can be talked into asking the machine's own services, a router or a cloud's metadata.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;

use crate::kernel::error::ToolError;

/// Hosts that may be private all the same: `name`, `name:port` or `*.domain`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions(Vec<String>);

impl Exceptions {
    /// These hosts.
    pub fn new(hosts: &[String]) -> Self {
        Self(hosts.iter().map(|host| host.trim().to_lowercase()).collect())
    }

    fn cover(&self, host: &str, port: u16) -> bool {
        self.0.iter().any(|known| match known.strip_prefix("*.") {
            Some(domain) => host.strip_suffix(domain).is_some_and(|sub| sub.ends_with('.')),
            None => known == host || *known == format!("{host}:{port}"),
        })
    }
}

/// Reads the address of a page.
///
/// # Errors
/// When it is none, is of another kind than http, or holds a name and password.
pub fn parse(text: &str) -> Result<Url, ToolError> {
    let text = text.trim();
    let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let refused = |why: &str| ToolError::new("InvalidArguments", format!("{text}: {why}"));
    let url = Url::parse(&whole).map_err(|error| refused(&format!("no web address ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("only http and https can be fetched; use read for files"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("an address must not hold a name or password"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(refused("no host"));
    }
    Ok(url)
}

/// The addresses behind a page's host, all of them allowed. The connection is made to these: what
/// the name means a moment later does not count.
///
/// # Errors
/// When the name is unknown or any of its addresses is private and no exception.
pub async fn resolve(url: &Url, exceptions: &Exceptions) -> Result<Vec<SocketAddr>, ToolError> {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_lowercase();
    let port = url.port_or_known_default().unwrap_or(443);
    let excepted = exceptions.cover(&bare, port);
    if !excepted && is_local_name(&bare) {
        return Err(private(&bare));
    }
    let found: Vec<SocketAddr> = match bare.parse::<IpAddr>() {
        Ok(ip) => vec![SocketAddr::new(ip, port)],
        Err(_) => tokio::net::lookup_host((bare.as_str(), port))
            .await
            .map_err(|error| ToolError::new("Unreachable", format!("{bare}: {error}")))?
            .collect(),
    };
    if found.is_empty() {
        return Err(ToolError::new("Unreachable", format!("{bare} has no address")));
    }
    if !excepted && found.iter().any(|address| !is_public(address.ip())) {
        return Err(private(&bare));
    }
    Ok(found)
}

fn private(host: &str) -> ToolError {
    let text = format!(
        "{host} is on this machine or in a private network, which is not fetched; the user can \
         allow it with web.allow_hosts in the config file"
    );
    ToolError::new("Refused", text)
}

/// Names that mean something only nearby.
fn is_local_name(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    host == "localhost"
        || [".localhost", ".local", ".internal", ".home.arpa"].iter().any(|end| host.ends_with(end))
}

/// Whether everybody reaches the same machine under that address.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let reserved = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !reserved
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let parts = ip.segments();
    let v4 = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // Addresses that stand for one of version 4.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            v4(high, low)
        }
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo, documentation, local translation.
        [0x2001, 0 | 0xdb8, ..] | [0x64, 0xff9b, 1, ..] => false,
        // Only 2000::/3 is given out for the whole world.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_in_every_dress_are_private() {
        for ip in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001:0:1::1",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in
            ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
        {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
    }

    #[test]
    fn only_plain_web_addresses_are_taken() {
        assert_eq!(parse("example.org/a").unwrap().as_str(), "https://example.org/a");
        assert_eq!(parse(" http://EXAMPLE.org ").unwrap().as_str(), "http://example.org/");
        // Other ways to write the same number are read as what they are.
        assert_eq!(parse("http://0x7f.1/").unwrap().host_str(), Some("127.0.0.1"));
        assert_eq!(parse("http://2130706433/").unwrap().host_str(), Some("127.0.0.1"));
        for bad in [
            "file:///etc/passwd",
            "ftp://x.org",
            "https://a:b@x.org",
            "https://a@x.org",
            "",
            "http://",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn exceptions_name_hosts_ports_and_domains() {
        let these = Exceptions::new(&["localhost:8080".into(), "Wiki.corp".into(), "*.lan".into()]);
        assert!(these.cover("localhost", 8080) && these.cover("wiki.corp", 443));
        assert!(these.cover("nas.lan", 80));
        assert!(
            !these.cover("localhost", 80) && !these.cover("lan", 80) && !these.cover("xlan", 80)
        );
    }
}

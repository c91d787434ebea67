//! What the recorder says in its own name: plain JSON that no provider would send.

/// An answer that is not the upstream's.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
    /// Further field lines, spelled out.
    pub(crate) extra: &'static str,
}

impl Answer {
    /// An error, told in a way that cannot be mistaken for a provider's.
    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        let body = serde_json::json!({"error": {"source": "blackbird", "code": code, "message": message}});
        Self { status, content_type: "application/json", body: body.to_string().into_bytes(), extra: "" }
    }

    /// A JSON document.
    pub(crate) fn json(body: &serde_json::Value) -> Self {
        Self { status: 200, content_type: "application/json", body: body.to_string().into_bytes(), extra: "" }
    }

    /// Spell it, with or without its body, saying whether the connection goes on.
    pub(crate) fn write(&self, out: &mut Vec<u8>, with_body: bool, close: bool) {
        let head = format!(
            "HTTP/1.1 {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n{}{}\r\n",
            self.status,
            reason(self.status),
            self.content_type,
            self.body.len(),
            self.extra,
            if close { "connection: close\r\n" } else { "" },
        );
        out.extend_from_slice(head.as_bytes());
        if with_body {
            out.extend_from_slice(&self.body);
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        407 => "Proxy Authentication Required",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_plain_json() {
        let mut out = Vec::new();
        Answer::error(502, "connect_failed", "no").write(&mut out, true, true);
        assert_eq!(
            String::from_utf8(out).expect("ASCII"),
            "HTTP/1.1 502 Bad Gateway\r\ncontent-type: application/json\r\ncontent-length: 71\r\nconnection: close\r\n\r\n\
             {\"error\":{\"code\":\"connect_failed\",\"message\":\"no\",\"source\":\"blackbird\"}}"
        );
    }
}

//! Addresses of mail as Go's `mail.ParseAddress` reads them, after RFC 5322.

/// Whether the text is one address, with or without a name and `<>`.
pub(super) fn is_email(text: &str) -> bool {
    let mut parser = Parser(text);
    let addresses = parser.address(true);
    addresses == Some(1) && parser.skip_comments().is_some() && parser.0.is_empty()
}

/// What is left of the text. Functions return `None` where the text is not as they need it.
struct Parser<'a>(&'a str);

impl<'a> Parser<'a> {
    /// An address or a group of addresses, and how many there are.
    fn address(&mut self, group: bool) -> Option<usize> {
        self.skip_space();
        if self.0.is_empty() {
            return None;
        }
        let start = self.0;
        if self.spec().is_some() {
            self.skip_space();
            if self.consume('(') {
                let comment = self.comment()?;
                let unknown = |word| Word::read(word) == Word::UnknownCharset;
                return (!comment.split([' ', '\t']).any(unknown)).then_some(1);
            }
            return Some(1);
        }
        self.0 = start;
        if !self.0.starts_with('<') {
            self.phrase()?;
        }
        self.skip_space();
        if group && self.consume(':') {
            return self.group();
        }
        self.expect('<')?;
        self.spec()?;
        self.expect('>')?;
        Some(1)
    }

    fn group(&mut self) -> Option<usize> {
        self.skip_space();
        if self.consume(';') {
            self.skip_comments()?;
            return Some(0);
        }
        let mut count = 0;
        loop {
            self.skip_space();
            count += self.address(false)?;
            self.skip_comments()?;
            if self.consume(';') {
                self.skip_comments()?;
                return Some(count);
            }
            self.expect(',')?;
        }
    }

    /// The local part, `@` and the domain.
    fn spec(&mut self) -> Option<()> {
        self.skip_space();
        if self.0.starts_with('"') {
            self.quoted().filter(|text| !text.is_empty())?;
        } else {
            self.atom(false)?;
        }
        self.expect('@')?;
        self.skip_space();
        if self.consume('[') {
            let end = self.0.find(|c| !is_visible(c) || matches!(c, '[' | ']' | '\\'))?;
            let (literal, rest) = self.0.split_at(end);
            self.0 = rest;
            self.expect(']')?;
            return super::address::is_ip(literal).then_some(());
        }
        self.atom(false).map(|_| ())
    }

    /// Words before the address. After the first one, what is no word ends them. Encoded words count when they are
    /// followed by something else, and not at all if they are empty.
    fn phrase(&mut self) -> Option<()> {
        let (mut words, mut encoded) = (0, false);
        loop {
            if words > 0 {
                self.skip_comments()?;
            }
            self.skip_space();
            if self.0.is_empty() {
                return Some(());
            }
            let word = if self.0.starts_with('"') {
                self.quoted().map(|_| Word::Plain)
            } else {
                self.atom(true).map(Word::read)
            };
            match word {
                Some(Word::Plain) => {
                    words += 1;
                    encoded = false;
                }
                Some(Word::Encoded { empty }) => encoded |= !empty,
                Some(Word::UnknownCharset) | None => return (words > 0 || encoded).then_some(()),
            }
        }
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let text = self.0.strip_prefix('"')?;
        let mut escaped = false;
        for (at, c) in text.char_indices() {
            let printable = is_visible(c) || matches!(c, ' ' | '\t');
            match c {
                '"' if !escaped => {
                    self.0 = &text[at + 1..];
                    return Some(&text[..at]);
                }
                _ if !printable => return None,
                _ => escaped = c == '\\' && !escaped,
            }
        }
        None
    }

    fn atom(&mut self, any_dots: bool) -> Option<&'a str> {
        let special = |c| !is_visible(c) || "()<>[]:;@\\,\"".contains(c);
        let end = self.0.find(special).unwrap_or(self.0.len());
        let (atom, rest) = self.0.split_at(end);
        if atom.is_empty() || !any_dots && atom.split('.').any(str::is_empty) {
            return None;
        }
        self.0 = rest;
        Some(atom)
    }

    fn skip_space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn skip_comments(&mut self) -> Option<()> {
        self.skip_space();
        while self.consume('(') {
            self.comment()?;
            self.skip_space();
        }
        Some(())
    }

    /// A comment whose parenthesis has been read.
    fn comment(&mut self) -> Option<String> {
        let mut depth = 1;
        let mut comment = String::new();
        let mut chars = self.0.chars();
        while let Some(mut c) = chars.next() {
            match c {
                '\\' => c = chars.next().unwrap_or(c),
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.0 = chars.as_str();
                return Some(comment);
            }
            comment.push(c);
        }
        None
    }

    fn consume(&mut self, c: char) -> bool {
        let rest = self.0.strip_prefix(c);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, c: char) -> Option<()> {
        self.consume(c).then_some(())
    }
}

fn is_visible(c: char) -> bool {
    matches!(c, '!'..='~') || !c.is_ascii()
}

/// A word as RFC 2047 reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Plain,
    Encoded {
        empty: bool,
    },
    /// It is encoded in a character set that Go does not know.
    UnknownCharset,
}

impl Word {
    fn read(word: &str) -> Self {
        let Some(inner) = word
            .strip_prefix("=?")
            .and_then(|word| word.strip_suffix("?="))
            .filter(|_| word.len() >= 8 && word.matches('?').count() == 4)
        else {
            return Word::Plain;
        };
        let parts: Vec<&str> = inner.split('?').collect();
        let [charset, encoding, text] = parts[..] else {
            return Word::Plain;
        };
        let decodes = match encoding {
            "B" | "b" => text.is_empty() || super::numbers::is_base64(text),
            "Q" | "q" => {
                let hex = |text: &str| text.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit);
                let escaped = |text: &str| text.len() >= 2 && hex(text);
                text.is_ascii() && text.split('=').skip(1).all(escaped)
            }
            _ => false,
        };
        let known = ["utf-8", "iso-8859-1", "us-ascii"];
        match charset {
            "" => Word::Plain,
            _ if !decodes => Word::Plain,
            charset if known.contains(&charset.to_lowercase().as_str()) => Word::Encoded {
                empty: text.is_empty(),
            },
            _ => Word::UnknownCharset,
        }
    }
}

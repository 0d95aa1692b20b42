//! The code blocks of a document.

/// A block between two fences.
pub struct Block {
    /// The document and the line of its first fence.
    pub place: String,
    /// The text after the first fence: the language, and words for the test.
    pub info: String,
    pub text: String,
    /// The reason in the comment before it.
    pub not_run: Option<String>,
}

impl Block {
    pub fn language(&self) -> &str {
        self.info.split(' ').next().unwrap_or_default()
    }

    pub fn has(&self, word: &str) -> bool {
        self.info.split(' ').any(|known| known == word)
    }

    /// The rest of the word with this prefix.
    pub fn word(&self, start: &str) -> Option<&str> {
        self.info.split(' ').find_map(|word| word.strip_prefix(start))
    }

    /// The file that the block contains or changes.
    pub fn file(&self) -> Option<&str> {
        self.word("file=")
    }

    /// Whether it is of this language, and no comment excludes it from being run.
    pub fn is_run(&self, language: &str) -> bool {
        self.language() == language && self.not_run.is_none()
    }
}

/// The blocks of a document, in order.
pub fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut comment = None;
    while let Some((number, line)) = lines.next() {
        // In a list, a block is indented.
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if let Some(info) = content.strip_prefix("```") {
            let mut text = String::new();
            for (_, line) in lines.by_ref().take_while(|(_, line)| line.trim() != "```") {
                text.push_str(line.get(indent..).unwrap_or_default());
                text.push('\n');
            }
            found.push(Block {
                place: format!("{page}:{}", number + 1),
                info: info.to_owned(),
                text,
                not_run: comment.take(),
            });
        } else if let Some(rest) = content.strip_prefix("<!-- not run: ") {
            comment = rest.strip_suffix(" -->").map(str::to_owned);
        } else if !content.is_empty() {
            comment = None;
        }
    }
    found
}

#[test]
fn a_comment_belongs_to_the_next_block_only() {
    let page = "  <!-- not run: it is slow -->\n\n  ```sh\n  sleep 9\n  ```\n\n```yaml crate file=a/b\na: 1\nb: 2\n```\n";
    let found = blocks("page.md", page);
    let [slow, file] = &found[..] else {
        panic!("{} blocks", found.len());
    };
    assert_eq!(slow.not_run.as_deref(), Some("it is slow"));
    assert_eq!(slow.text, "sleep 9\n");
    assert!(!slow.is_run("sh"));
    assert_eq!((&*file.place, &*file.text), ("page.md:7", "a: 1\nb: 2\n"));
    assert!(file.is_run("yaml") && file.has("crate"));
    assert_eq!(file.file(), Some("a/b"));
}

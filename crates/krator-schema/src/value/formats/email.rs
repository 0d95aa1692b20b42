//! Addresses of mail as Go's `mail.ParseAddress` reads them.

/// Whether the text is one address, with or without a name and `<>`.
pub(super) fn is_email(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    let address = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((_, address)) => address,
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let atom = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || !c.is_ascii();
    let is_atoms = |text: &str| {
        text.split('.')
            .all(|part| !part.is_empty() && part.chars().all(atom))
    };
    is_atoms(local) && is_atoms(domain)
}

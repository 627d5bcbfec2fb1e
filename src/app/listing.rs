//! The words in which the application offers a list and a front end answers: models, tasks, rules.
//! A list is data; what an entry means stays with the room in [`super::lists`] that made it. Only
//! vocabulary here, no list.

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// Background tasks of the session.
    Tasks,
    /// Models for the conversation.
    Models,
    /// Models for side work.
    SmallModels,
    /// Keys of providers.
    Keys,
    /// Turns of the user to go back to.
    Turns,
    /// What going back to one of them is to mean.
    Rewind,
    /// Permission rules.
    Permissions,
    /// What the project asks for.
    Trust,
    /// What is remembered.
    Memory,
    /// Skills and commands.
    Skills,
}

/// What can be done with an entry. Each has one key, the same in all lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Enter: what the list is for.
    Choose,
    /// Tab: the second thing to do with an entry.
    Other,
    /// Delete or ctrl+x: takes the entry away.
    Remove,
    /// Ctrl+g: opens the entry in the editor.
    Edit,
    /// Left: one step less of the entry's setting.
    Less,
    /// Right: one step more.
    More,
}

/// A thing to do, as a list offers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Which.
    pub verb: Verb,
    /// One or two words for the line of keys, for example `stops it`.
    pub label: String,
    /// Whether the panel closes with it. Else it stays and waits for the list as it is then.
    pub closes: bool,
    /// Whether it has to be asked for twice, because it can't be taken back.
    pub confirm: bool,
}

impl Offer {
    /// An offer that leaves the panel open and is done at once.
    pub fn new(verb: Verb, label: &str) -> Self {
        Self { verb, label: label.to_owned(), closes: false, confirm: false }
    }

    /// The same, closing the panel.
    #[must_use]
    pub fn closing(mut self) -> Self {
        self.closes = true;
        self
    }

    /// The same, asked for twice.
    #[must_use]
    pub fn confirmed(mut self) -> Self {
        self.confirm = true;
        self
    }
}

/// One entry. Text from outside may be in it as it is: the screen cleans what it draws.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// What [`Pick::id`] brings back; unique in the list and stable between two looks at it.
    pub id: String,
    /// Its name.
    pub title: String,
    /// What stands beside it, the most important first: a narrow screen drops the last ones.
    pub columns: Vec<String>,
    /// One line that is shown while the entry is selected; empty for none.
    pub note: String,
    /// Whether it is the one in force.
    pub current: bool,
}

impl Entry {
    /// An entry with a name.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self { id: id.into(), title: title.into(), ..Self::default() }
    }

    /// The same with a further column.
    #[must_use]
    pub fn column(mut self, text: impl Into<String>) -> Self {
        self.columns.push(text.into());
        self
    }

    /// The same with a line for when it is selected.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.note = text.into();
        self
    }

    /// The same, in force or not.
    #[must_use]
    pub fn current(mut self, current: bool) -> Self {
        self.current = current;
        self
    }
}

/// A list to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Which.
    pub kind: ListKind,
    /// Its title.
    pub title: String,
    /// Lines above the entries: a question, a preview. Dropped on a low screen.
    pub preface: Vec<String>,
    /// The entries in the order they are shown.
    pub entries: Vec<Entry>,
    /// What is said when there is no entry.
    pub empty: String,
    /// What can be done with an entry, in the order of the line of keys.
    pub offers: Vec<Offer>,
    /// Whether typing filters. Without, the entries are numbered and a digit chooses.
    pub filter: bool,
}

impl Listing {
    /// A list that typing filters.
    pub fn new(kind: ListKind, title: &str, empty: &str) -> Self {
        Self {
            kind,
            title: title.to_owned(),
            preface: Vec::new(),
            entries: Vec::new(),
            empty: empty.to_owned(),
            offers: Vec::new(),
            filter: true,
        }
    }

    /// A few numbered choices.
    pub fn menu(kind: ListKind, title: &str) -> Self {
        Self { filter: false, ..Self::new(kind, title, "") }
    }
}

/// What the user asked to do with an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The list it was in.
    pub kind: ListKind,
    /// [`Entry::id`].
    pub id: String,
    /// What to do.
    pub verb: Verb,
}

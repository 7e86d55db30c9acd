//! Child processes: started with nothing inherited, heard within limits, and killed with their process group.
//!
//! Every child begins with [`command`] and is a [`Child`], which ends with its group when it is dropped. [`Words`]
//! are the end of its standard error, and [`frame`] carries messages of limited length. [`processes`] measures the
//! processes of a group.
//!
//! A program may start itself again for a [`Role`]: its `main` begins with [`run`]. The child then sandboxes itself. A
//! [`Launcher`] starts such a child for a sandbox of [`fence`], in which it may become another program.

mod apart;
mod child;
mod fenced;
pub mod frame;
mod launcher;
pub mod processes;
mod role;
mod words;

pub use child::{Child, Group, User, command};
pub use fenced::{Order, Program};
pub use launcher::Launcher;
pub use role::{Role, can_run, run};
pub use words::{Words, last_line};

//! Prints the state in which doors rest.
use doors::door::states::Open;

fn main() {
    println!("{Open:?}");
}

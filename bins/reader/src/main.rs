//! The program that reads documents: started by the server and the worker, one document at a time, behind a fence.

fn main() {}

/** The master key of every control plane under test: replicas of one database need the same one. */
export const MASTER_KEY = Buffer.alloc(32, "a key of the tests");

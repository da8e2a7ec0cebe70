/** Master key of every control plane under test. Replicas of one database need the same key. */
export const MASTER_KEY = Buffer.alloc(32, "a key of the tests");

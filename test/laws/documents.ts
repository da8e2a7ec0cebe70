/** The documents of the repository, by their paths from the root. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  "control-plane/README.md",
  "probe-agent/README.md",
  "shared/README.md",
  "test/README.md",
];

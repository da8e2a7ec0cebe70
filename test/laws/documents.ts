/** The documents of the repository, by their paths from the root. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  ".github/CONTRIBUTING.md",
  "control-plane/README.md",
  "deploy/README.md",
  "deploy/capacity.md",
  "deploy/guide.md",
  "probe-agent/README.md",
  "shared/README.md",
  "test/README.md",
];

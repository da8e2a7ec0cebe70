/** Contents of the text after a start. */
interface Greeting {
  readonly baseUrl: string;
  /** The path of the operator token; null: VANTAGE_ADMIN_TOKEN is set. */
  readonly adminTokenFile: string | null;
  /** Set only with the operator's own database: without this file the secrets in it are lost. */
  readonly masterKeyFile: string | null;
  /** Set only on the first start. */
  readonly firstKey: string | null;
  readonly logFiles: readonly string[];
  readonly notes: readonly string[];
}

/** Formats the text after a start. */
export function greet(greeting: Greeting): string {
  const { baseUrl, adminTokenFile, masterKeyFile, firstKey, logFiles, notes } = greeting;
  const rows: [string, string][] = [["URL", baseUrl]];
  rows.push(["Operator token", adminTokenFile === null ? "the value of VANTAGE_ADMIN_TOKEN" : `in ${adminTokenFile}`]);
  if (masterKeyFile !== null) rows.push(["Master key", `in ${masterKeyFile} (keep a copy: the database needs it)`]);
  if (firstKey !== null) rows.push(["First API key", `${firstKey} (plan captain; not shown again)`]);
  rows.push(["Logs", logFiles.join(", ")]);
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  const header = `-H 'X-API-Key: ${firstKey ?? "YOUR_KEY"}'`;
  return [
    "",
    "Vantage is ready.",
    "",
    ...rows.map(([label, value]) => `  ${label.padEnd(width)}${value}`),
    "",
    "Try it (the first command works without internet access):",
    `  curl ${header} ${baseUrl}/api/v4/tools`,
    `  curl ${header} '${baseUrl}/api/v4/check?url=https://example.com'`,
    "",
    ...notes,
    "Ctrl-C stops everything.",
    "",
  ].join("\n");
}

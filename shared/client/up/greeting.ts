/** What the person who typed `npm start` needs to know. */
export interface Greeting {
  readonly baseUrl: string;
  /** Where the operator token is; null: given by VANTAGE_ADMIN_TOKEN. */
  readonly adminTokenFile: string | null;
  /** Shown where the database is the operator's own: losing this file loses the secrets in it. */
  readonly masterKeyFile: string | null;
  /** Only on the first start. */
  readonly firstKey: string | null;
  readonly logFiles: readonly string[];
  readonly notes: readonly string[];
}

/** The text after a start, in plain lines. */
export function greet(greeting: Greeting): string {
  const { baseUrl, adminTokenFile, masterKeyFile, firstKey, logFiles, notes } = greeting;
  const rows: [string, string][] = [["URL", baseUrl]];
  rows.push(["Operator token", adminTokenFile === null ? "the value of VANTAGE_ADMIN_TOKEN" : `in ${adminTokenFile}`]);
  if (masterKeyFile !== null) rows.push(["Master key", `in ${masterKeyFile} (keep a copy: the database needs it)`]);
  if (firstKey !== null) rows.push(["First API key", `${firstKey} (plan captain; shown only this once)`]);
  rows.push(["Logs", logFiles.join(", ")]);
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  const header = `-H 'X-API-Key: ${firstKey ?? "YOUR_KEY"}'`;
  return [
    "",
    "Vantage is ready.",
    "",
    ...rows.map(([label, value]) => `  ${label.padEnd(width)}${value}`),
    "",
    "Try it (the first works without internet):",
    `  curl ${header} ${baseUrl}/api/v4/tools`,
    `  curl ${header} '${baseUrl}/api/v4/check?url=https://example.com'`,
    "",
    ...notes,
    "Ctrl-C stops everything.",
    "",
  ].join("\n");
}

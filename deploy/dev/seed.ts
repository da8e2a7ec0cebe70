/** What is created in a new data directory: something of every state that a person looks at. */
const MONITORS = (site: string): readonly object[] => [
  { name: "Shop", url: `${site}/`, check_type: "http", interval_minutes: 1, tags: ["demo"] },
  {
    name: "Shop text",
    url: `${site}/`,
    check_type: "keyword",
    keyword: "Welcome",
    interval_minutes: 1,
    tags: ["demo"],
  },
  { name: "Broken page", url: `${site}/broken`, check_type: "http", interval_minutes: 1, tags: ["demo"] },
  { name: "Flapping page", url: `${site}/flapping`, check_type: "http", interval_minutes: 1, tags: ["demo"] },
  { name: "Nightly backup", check_type: "heartbeat", heartbeat: { cron: "30 2 * * *", grace_seconds: 900 } },
];

/** Creates the demo monitors and a status page of them in the account of this key. Rejects with the first refusal. */
export async function seed(base: string, key: string, site: string): Promise<void> {
  const post = async (path: string, body: object): Promise<{ readonly id: number }> => {
    const response = await fetch(`${base}${path}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return (JSON.parse(text) as { readonly data: { readonly id: number } }).data;
  };
  const ids: number[] = [];
  for (const monitor of MONITORS(site)) ids.push((await post("/api/v4/monitors", monitor)).id);
  await post("/api/v4/status", { title: "Demo shop", slug: "demo-shop", monitors: ids.map((id) => ({ id })) });
}

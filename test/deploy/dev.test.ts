import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runDev } from "../../deploy/dev/run.ts";
import { startDemoSite } from "../../deploy/dev/site.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { makePlace } from "#test/shared/client/up/supervisor.ts";
import { freePort } from "#test/support/free-port.ts";
import { until } from "#test/support/until.ts";

const place = await makePlace();
afterAll(() => place.clean());

it("npm run dev has an account with monitors and a page, and starts again after a change", async () => {
  const folder = dirname(place.directory);
  const watched = join(folder, "code");
  mkdirSync(watched);
  const sitePort = await freePort();
  const site = await startDemoSite(sitePort, () => 0);
  const stop = new AbortController();
  let output = "";
  const running = runDev({
    root: ROOT,
    directory: folder,
    watched: [watched],
    environment: { ...process.env, ...place.environment, VANTAGE_ALLOW_TARGETS: "127.0.0.0/8" },
    site: `http://127.0.0.1:${sitePort}`,
    say: (text) => (output += text),
    stop: stop.signal,
  });
  try {
    await until(() => /^(?:Seeded|Not seeded).*$/m.exec(output)?.[0].startsWith("Seeded"), "it is seeded");
    const key = /vtg_\S+/.exec(output)?.[0] ?? "";
    expect(statSync(join(folder, "key")).mode & 0o777).toBe(0o600);
    const read = async () => {
      const answer = await fetch(`${place.base}/api/v4/monitors`, { headers: { "x-api-key": key } });
      const { data } = (await answer.json()) as { readonly data: readonly { name: string; status: string }[] };
      return Object.fromEntries(data.map(({ name, status }) => [name, status]));
    };
    await expect.poll(read).toMatchObject({ Shop: "up", "Shop text": "up", "Broken page": "down" });
    expect((await fetch(`${place.base}/status/demo-shop`)).status).toBe(200);

    writeFileSync(join(watched, "a.ts"), "");
    await until(() => output.includes("a.ts has changed") && output.includes(`The key is ${key}`), "it started again");
    await expect.poll(async () => Object.keys(await read())).toHaveLength(5);
  } finally {
    stop.abort();
    await running;
    site.close();
  }
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf } from "#test/lab/addresses.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import { LAB, LAB_RANGES } from "#test/lab/topology.ts";
import { SOON, startWatchedLab, type WatchedLab } from "#test/lab/watched.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { createPki } from "#test/servers/pki.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { identityOf } from "#test/support/http-engine.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

const CUTS = 10;
/** A monitor with more changes than these cuts make is flapping, which needs more failures in a row. */
const CUTS_PER_MONITOR = 2;
/** Shorter than any plan allows, so that ten outages take minutes. */
const INTERVAL_SECONDS = 5;
const TIMEOUT_SECONDS = 2;
/** From the cut to the receipt, milliseconds: the next planned check, its timeout, and the confirmation. */
const DEADLINE_MS = (INTERVAL_SECONDS + TIMEOUT_SECONDS) * 1_000 + 5_000;
const PORT = 8_443;

describe.skipIf(why !== null)("the whole way from a cut link to a receiver", () => {
  const folder = mkdtempSync(join(tmpdir(), "vantage-lab-webhooks-"));
  let lab: WatchedLab;
  let receiver: Daemon;

  beforeAll(async () => {
    const pki = await createPki({ name: "Receivers of the lab" });
    const address = addressOf(LAB, "web");
    const { cert, key: privateKey } = identityOf(await pki.issue({ ip: [address] }), pki.intermediate);
    const file = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    lab = await startWatchedLab({
      intervalSeconds: INTERVAL_SECONDS,
      planeSettings: {
        NODE_EXTRA_CA_CERTS: file("root.pem", pki.root.pem),
        VANTAGE_ALLOW_TARGETS: LAB_RANGES.join(","),
      },
    });
    const { service, key, network } = lab;
    const body = { name: "On-call", url: `https://${address}:${PORT}/` };
    const made = await service.plane.call("/api/v4/webhooks", { key, method: "POST", body });
    if (made.status !== 201) throw new Error(made.text);
    const { signing_secret: secret } = made.body.data as { signing_secret: string };
    const files = ["--tls-cert", file("cert.pem", cert), "--tls-key", file("key.pem", privateKey)];
    receiver = await startDaemon(network, {
      node: "web",
      command: [
        process.execPath,
        `${ROOT}/shared/client/main.ts`,
        "listen",
        "--host",
        address,
        "--port",
        String(PORT),
        "--secret-file",
        file("secret", secret),
        ...files,
      ],
      ready: "Listening on",
    });
    await lab.serve("svc", 8_003);
  });
  afterAll(async () => {
    await lab?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns how many verified events of a type have arrived. */
  function arrivals(type: string): number {
    const found = receiver.log().matchAll(/^\S+Z verified (\S+), delivery \d+, attempt \d+, event \S+$/gm);
    return Array.from(found).filter(([, about]) => about === type).length;
  }

  it("is a verified monitor.down in time, ten times, and a monitor.up after each", async () => {
    const { service, key } = lab;
    let monitor = 0;
    for (let cut = 1; cut <= CUTS; cut += 1) {
      if (cut % CUTS_PER_MONITOR === 1) {
        if (monitor > 0) await service.plane.call(`/api/v4/monitors?id=${monitor}`, { key, method: "DELETE" });
        const url = `http://${addressOf(LAB, "svc")}:8003/?monitor=${cut}`;
        monitor = await lab.watch(url, { timeout_seconds: TIMEOUT_SECONDS });
      }
      await lab.network.links.set("svc", { down: true });
      await endsBy(DEADLINE_MS, async () => {
        await expect.poll(() => arrivals("monitor.down"), SOON).toBe(cut);
      });
      await lab.network.links.reset("svc");
      await expect.poll(() => arrivals("monitor.up"), SOON).toBe(cut);
      // Each monitor has its own moment in the interval.
      await expect.poll(async () => (await lab.read(monitor)).status, SOON).toBe("up");
    }
    expect(receiver.log()).not.toContain("NOT verified");
  }, 600_000);
});

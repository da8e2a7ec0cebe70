import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf } from "#test/lab/addresses.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { LAB } from "#test/lab/topology.ts";
import { startWatchedLab, type WatchedLab } from "#test/lab/watched.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

const INTERVAL_SECONDS = 20;
/** A verdict is fresh for two intervals and the timeout. The planned check after that finds it stale. */
const FRESH = { interval: 1_000 };

describe.skipIf(why !== null)("monitors whose probes are all gone", () => {
  let lab: WatchedLab;
  let id = 0;
  beforeAll(async () => {
    const mailServer = `smtp://${addressOf(LAB, "smtp-plain")}:25`;
    const planeSettings = { VANTAGE_SMTP_URL: mailServer, VANTAGE_MAIL_FROM: "vantage@lab.test" };
    lab = await startWatchedLab({ planeSettings, intervalSeconds: INTERVAL_SECONDS });
    await lab.serve("web", 8001);
    const notified = { notify_email: true, notify_emails: ["ops@lab.test"], timeout_seconds: 1 };
    id = await lab.watch(`http://${addressOf(LAB, "web")}:8001/`, notified);
    await lab.query("update mail_recipients set confirmed_at = now(), wants_confirmation = false");
  });
  afterAll(() => lab?.close());

  const status = async (): Promise<string> => (await lab.read(id)).status;

  it("are unknown, without an event or a mail, and the operator gets exactly one warning", async () => {
    for (const agent of lab.service.agents.values()) agent.kill("SIGKILL");
    await expect.poll(status, FRESH).toBe("unknown");
    expect(await lab.events(id)).toEqual([]);
    expect(await lab.incidents(id)).toEqual([]);
    // The mail that asks to confirm the address is about no monitor.
    const mails = "from deliveries as d join events as e on e.id = d.event_id where e.monitor_id is not null";
    expect(await lab.query(`select e.type ${mails}`)).toEqual([]);

    const warnings = async () => (await lab.service.plane.call("/api/admin/warnings", { operator: true })).body.data;
    await expect.poll(warnings, FRESH).toMatchObject([{ code: "no_agents", monitor_ids: [id], monitor_count: 1 }]);
    console.log(((await warnings()) as readonly { readonly message: string }[])[0]?.message);
    const lines = () =>
      lab.service.plane.daemon
        .log()
        .split("\n")
        .filter((line) => line.includes('"warning: '));
    await expect.poll(() => lines().length, FRESH).toBe(1);
    expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ level: "warn", code: "no_agents" });
  });
});

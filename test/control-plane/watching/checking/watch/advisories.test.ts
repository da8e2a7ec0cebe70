import { describe, expect, it } from "vitest";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { DOWN, EMAILS, openRecording, UP } from "#test/control-plane/watching/checking/watch/recording.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const recording = await stopAfterAll(openRecording());

/** A monitor that is up, whose location us-east has failed alone for a number of checks. */
async function failAlone(settings: Partial<MonitorSettings>, checks: number) {
  const monitor = await recording.watch({ notify_email: true, notify_emails: EMAILS.slice(0, 1), ...settings });
  const webhooks = {
    named: await monitor.subscribe(["monitor.down", "monitor.advisory"]),
    all: await monitor.subscribe(null),
  };
  await monitor.end(await monitor.begin(), UP);
  for (let check = 0; check < checks; check += 1) {
    const entries = await monitor.begin();
    const isThere = ({ location }: { readonly location: string }) => location === "us-east";
    await monitor.end(
      entries.filter((entry) => !isThere(entry)),
      UP,
    );
    await monitor.end(entries.filter(isThere), DOWN);
  }
  return { monitor, webhooks };
}

describe("an advisory that begins", () => {
  it("is an event, once, to webhooks that name it, and no mail", async () => {
    const { monitor, webhooks } = await failAlone({}, 5);
    const shown = await monitor.shown();
    expect(shown).toMatchObject({ status: "up", advisory: { locations: ["us-east"] } });
    expect(await monitor.events("monitor.advisory")).toEqual([
      expect.objectContaining({
        previous_status: "up",
        status: "up",
        cause: { code: "connect_refused", message: "Connection refused from us-east (port 443)" },
        advisory: (shown as { advisory: unknown }).advisory,
        incident_id: null,
      }),
    ]);
    expect(await monitor.posted("monitor.advisory")).toEqual([webhooks.named]);
    expect(await monitor.mailed()).toEqual([]);
  });

  it("is mailed where notify_advisories is true", async () => {
    const { monitor } = await failAlone({ notify_advisories: true }, 4);
    expect(await monitor.mailed()).toEqual([`monitor.advisory ${EMAILS[0]}`]);
  });

  it("is not mailed where notify_email is false", async () => {
    const { monitor } = await failAlone({ notify_email: false, notify_advisories: true }, 4);
    expect(await monitor.events("monitor.advisory")).toHaveLength(1);
    expect(await monitor.mailed()).toEqual([]);
  });
});

describe("a webhook without a list of events", () => {
  it("lists all types but those that must be named, also after the list is sent back", async () => {
    const { monitor, webhooks } = await failAlone({}, 0);
    const read = async () => (await monitor.webhook(webhooks.all)).events;
    const listed = await read();
    expect(listed).toContain("monitor.degraded");
    expect(listed).not.toContain("monitor.advisory");
    await monitor.changeWebhook(webhooks.all, { events: listed });
    expect(await read()).toEqual(listed);
    await monitor.changeWebhook(webhooks.all, { events: [...listed, "monitor.advisory"] });
    expect((await read()).toSorted()).toEqual([...listed, "monitor.advisory"].toSorted());
  });
});

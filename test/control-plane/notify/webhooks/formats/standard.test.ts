import { describe, expect, it } from "vitest";
import { FORMATS } from "#control-plane/notify/webhooks/formats/formats.ts";
import { BASE, EVENTS, targetOf } from "#test/control-plane/notify/webhooks/formats/events.ts";

const DOWN = EVENTS["monitor.down"]!;
const HOOK = targetOf("https://hooks.example/T0/secret?a=b");
const INCIDENT = `${BASE}/app/incidents/12`;
const MONITOR = `${BASE}/app/monitors/7`;

describe("the standard format", () => {
  it("is the stored body with the address of its page for people, at the address as written", () => {
    const { url, headers, body } = FORMATS.standard.build(DOWN, HOOK);
    expect([url, headers]).toEqual([HOOK.url, { "content-type": "application/json" }]);
    expect(body).toBe(`${DOWN.body.slice(0, -2)},"dashboard_url":"${INCIDENT}"}}`);
    expect(FORMATS.standard.build(DOWN, { ...HOOK, pageUrl: null }).body).toBe(DOWN.body);
  });

  it.each([
    ["visual.changed", MONITOR],
    ["ssl.expiring", MONITOR],
    ["test", `${BASE}/app/`],
  ])("has for %s the address %s", (name, address) => {
    const { body } = FORMATS.standard.build(EVENTS[name]!, HOOK);
    expect(JSON.parse(body)).toMatchObject({ data: { dashboard_url: address } });
    expect(body.includes("/api/v4/")).toBe(name === "visual.changed");
  });
});

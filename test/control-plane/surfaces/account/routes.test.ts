import { expect, it } from "vitest";
import { createAccount } from "#test/support/audit.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());

it("a key sees the plan of its account, its own scopes, and what is used of the limits", async () => {
  const { id, key } = await createAccount(plane, "starter");
  const narrow = await plane.operate("POST", "/api/admin/keys", { account_id: id, scopes: ["dns", "check"] });
  const reader = (narrow.body.data as { key: string }).key;
  const heartbeat = { check_type: "heartbeat", name: "backup" };
  expect((await plane.call("/api/v4/monitors", { key, body: heartbeat })).status).toBe(201);
  const hook = { url: "https://hooks.example.com/a" };
  for (let made = 0; made < 2; made++) await plane.call("/api/v4/webhooks", { key, body: hook });

  const shown = await plane.call("/api/v4/account", { key: reader });
  expect(shown.status).toBe(200);
  expect(shown.body.data).toEqual({
    id,
    plan: "starter",
    scopes: ["check", "dns"],
    limits: {
      requests_per_minute: 30,
      requests_per_day: 1_000,
      monitors: 25,
      webhooks: 5,
      keys: 10,
      batch_urls: 20,
      locations: 4,
      shortest_interval_minutes: 2,
      audit_export: false,
    },
    usage: { ...usedIn(shown.headers), monitors: 1, webhooks: 2, keys: 2 },
  });
});

it("each request counts, and those of other accounts do not", async () => {
  const { key } = await createAccount(plane, "free");
  await createAccount(plane, "free");
  const first = await plane.call("/api/v4/account", { key });
  expect(first.body.data).toMatchObject({ usage: { ...usedIn(first.headers), monitors: 0, webhooks: 0, keys: 1 } });
  const second = await plane.call("/api/v4/account", { key });
  expect(second.body.data).toMatchObject({ usage: usedIn(second.headers) });
  expect((await plane.call("/api/v4/account")).status).toBe(401);
});

/** Returns what was used of both limits, by the headers of an answer: a minute can end between two requests. */
function usedIn(headers: Headers): { readonly minute: number; readonly day: number } {
  const [minute = NaN, day = NaN] = numbersOf(headers.get("ratelimit"), "r");
  const [ofMinute = NaN, ofDay = NaN] = numbersOf(headers.get("ratelimit-policy"), "q");
  return { minute: ofMinute - minute, day: ofDay - day };
}

function numbersOf(field: string | null, name: string): readonly number[] {
  return Array.from((field ?? "").matchAll(new RegExp(`;${name}=(\\d+)`, "g")), ([, digits]) => Number(digits));
}

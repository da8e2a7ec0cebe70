import { describe, expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import type { CertificateFacts } from "#control-plane/watching/expiry/observed/certificate.ts";
import { encodeState } from "#control-plane/outages/state/encoding.ts";
import { NEW_STATE } from "#control-plane/outages/state/state.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { until } from "#test/support/until.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const CERTIFICATE: CertificateFacts = {
  fingerprint: "ab".repeat(32),
  issuer: "CN=R1",
  subject: "CN=shop.example.com",
  notBefore: "2026-01-01T00:00:00.000Z",
  notAfter: "2126-01-01T00:00:00.000Z",
  names: "",
  trusted: true,
  trustError: null,
};

const plane = await stopAfterAll(startControlPlane());
const sql = await stopAfterAll(
  connect(plane.databaseUrl, { name: "test", connections: 1, statementTimeoutMs: 30_000 }),
);

describe("a monitor that was degraded when it was last known", () => {
  it.each([
    ["up", true],
    ["unknown", false],
  ] as const)("and is %s now is shown as degraded: %s", async (status, isShown) => {
    const { key, ids } = await createWatchedAccount(plane, sql, 1, { degraded_ms: 500 });
    const [id = 0] = ids;
    const state = encodeState({ ...NEW_STATE, status, lastKnown: "up", isDegraded: true, slowStreak: 3 });
    await sql`update monitor_states set status = ${status}, state = ${state}, visit_at = null where monitor_id = ${id}`;
    const { body } = await plane.call(`/api/v4/monitors?id=${id}`, { key });
    expect(body.data).toMatchObject({ status, degraded: isShown });
  });
});

describe("a monitor that is up, whose server speaks nothing newer than TLS 1.1", () => {
  it("shows it as its advisory, unless a location fails alone", async () => {
    const { key, ids } = await createWatchedAccount(plane, sql, 1);
    const [id = 0] = ids;
    const looked = new Date();
    const facts = JSON.stringify({ ...CERTIFICATE, protocol: "TLSv1.1", oldTlsSince: looked.getTime() });
    await until(async () => {
      const rows = await sql`
        update expiry_targets set facts = ${facts}, looked_at = ${looked}
        where id in (select target_id from expiry_links where monitor_id = ${id}) returning id`;
      return rows.length > 0;
    }, "its certificate is watched");
    const failed = { verdict: "down", at: looked.getTime(), streak: 3, since: looked.getTime(), fault: null } as const;
    const advisoryWith = async (failing: readonly string[]) => {
      const locations = new Map(failing.map((location) => [location, failed]));
      const state = encodeState({ ...NEW_STATE, status: "up", lastKnown: "up", failing, locations });
      await sql`update monitor_states set status = 'up', state = ${state}, visit_at = null where monitor_id = ${id}`;
      const { body } = await plane.call(`/api/v4/monitors?id=${id}`, { key });
      return (body.data as { readonly advisory: unknown }).advisory;
    };
    const message = "The server speaks nothing newer than TLS 1.1; browsers refuse versions before TLS 1.2";
    expect(await advisoryWith([])).toEqual({ since: looked.toISOString(), locations: [], message });
    expect(await advisoryWith(["eu-west"])).toMatchObject({ locations: ["eu-west"] });
  });
});

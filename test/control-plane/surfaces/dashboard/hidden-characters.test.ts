import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { viewerTimeOf } from "#control-plane/surfaces/dashboard/layout/times.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { renderHeartbeat } from "#control-plane/surfaces/dashboard/monitor/heartbeat.ts";
import { renderEnds } from "#control-plane/surfaces/dashboard/monitor/state.ts";
import { renderRun } from "#control-plane/surfaces/dashboard/tools/result.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";

/** Shown as it is, what follows reads backwards: "moc.elpmaxe" as "example.com". */
const REVERSED = "\u202Emoc.elpmaxe\u200B";
const VISIBLE = "\\u202emoc.elpmaxe\\u200b";
const now = new Date("2026-11-27T20:00:00Z");
const at = now.toISOString();
const contract = CONTRACTS.find(({ name }) => name === "ip");
const location = { region: "eu-west", city: null, country: null, asn: null };
const data = { ...(exampleOf("ip")?.data as object), hostname: REVERSED, as_name: REVERSED };

function pageOf(monitor: object): MonitorPage {
  const page = { now, viewer: viewerTimeOf({ timezone: "UTC" }), formToken: "", canWrite: true, monitor };
  return page as unknown as MonitorPage;
}

/** What of a text is left on a page: whether it is written out, and what is hidden. */
function shownIn(html: string) {
  return { isWritten: html.includes(VISIBLE), hidden: html.match(/[\u202E\u200B]/g) };
}

const WRITTEN_OUT = { isWritten: true, hidden: null };

describe("characters that reorder or hide text are written out", () => {
  it("in what a ping has sent", () => {
    const ping = { received_at: at, kind: "success", duration_ms: 1, exit_code: 0, remote_addr: "192.0.2.1" };
    const heartbeat = {
      period_seconds: 60,
      cron: null,
      timezone: null,
      pings: [{ ...ping, body: `first\n${REVERSED}`, body_truncated: false }],
    };
    const html = String(renderHeartbeat(pageOf({ id: 1, heartbeat, heartbeat_url: null })));
    expect(html).toContain("first\n");
    expect(shownIn(html)).toEqual(WRITTEN_OUT);
  });

  it("in the names of a certificate and of a registrar", () => {
    const certificate = {
      subject: REVERSED,
      issuer: "",
      trust_error: null,
      first_to_end: { not_after: at, days_left: 3 },
    };
    const none = { certificate: null, certificate_error: null, domain: null, domain_error: null };
    expect(shownIn(String(renderEnds(pageOf({ ...none, certificate }))))).toEqual(WRITTEN_OUT);
    const domain = { name: "example.com", registrar: REVERSED, expires_at: at, days_left: 3 };
    expect(shownIn(String(renderEnds(pageOf({ ...none, domain }))))).toEqual(WRITTEN_OUT);
  });

  it("in the data of a tool, which stay the same JSON", () => {
    if (contract === undefined) throw new Error("there is no tool ip");
    const answered = { kind: "single", location, cached: false, outcome: { status: "ok", data } } as never;
    const html = renderRun({
      contract,
      answered,
      call: {},
      address: null,
      shareId: null,
      now,
      baseUrl: "http://a",
      level: "h2",
    });
    expect(shownIn(String(html).split("<pre").at(-1) ?? "")).toEqual(WRITTEN_OUT);
  });
});

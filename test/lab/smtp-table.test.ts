import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import { smtpTest as contract } from "#shared/tools/smtp-test/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { createApiClient, type ApiClient } from "#test/lab/ask.ts";
import { startServiceLab, type Lab, type Service } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { DANE_EXCHANGER } from "#test/lab/services/mail-records.ts";
import { BUSY_AFTER_MS, BUSY_GREETING, SIZE_LIMIT } from "#test/lab/services/mail-servers.ts";
import { LAB } from "#test/lab/topology.ts";
import { endsBy } from "#test/support/deadlines.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

type Result = ResultOf<typeof contract>;

/** A mail server with a greeting, and its expected result. */
interface Row {
  readonly what: string;
  readonly target: string;
  readonly port?: number;
  /** The service that answers; null if mx_used is null because the target has no MX. */
  readonly service: string;
  readonly mx: readonly string[];
  readonly family?: 4 | 6;
  readonly result: {
    readonly code?: number;
    readonly helo_only?: boolean;
    readonly implicit_tls?: boolean;
    readonly offered: boolean | null;
    readonly success: boolean | null;
    /** null if there is no TLS at all. */
    readonly trust: { readonly trusted: boolean; readonly error: string | null } | null;
    readonly size?: number | null;
    readonly auth?: readonly string[];
    readonly auth_before_tls?: boolean | null;
    readonly dane?: string | null;
  };
  readonly issues: readonly RegExp[];
}

const TRUSTED = { trusted: true, error: null };
const SECURED = { offered: true, success: true, trust: TRUSTED, size: SIZE_LIMIT, auth_before_tls: false };

const ROWS: readonly Row[] = [
  {
    what: "STARTTLS with a good certificate",
    target: "good.smtp.test",
    service: "smtp-good",
    mx: ["smtp-good.lab.test"],
    result: SECURED,
    issues: [],
  },
  {
    what: "no STARTTLS, but passwords in the clear",
    target: "plain.smtp.test",
    service: "smtp-plain",
    mx: ["smtp-plain.lab.test"],
    result: { offered: false, success: null, trust: null, auth: ["PLAIN", "LOGIN"], auth_before_tls: true },
    issues: [/^AUTH is offered without TLS/, /^STARTTLS is not offered/],
  },
  {
    what: "STARTTLS with an expired certificate",
    target: "expired.smtp.test",
    service: "smtp-expired",
    mx: ["smtp-expired.lab.test"],
    result: { ...SECURED, trust: { trusted: false, error: "expired" } },
    issues: [/not valid for smtp-expired\.lab\.test: expired/],
  },
  {
    what: "HELO alone",
    target: "helo.smtp.test",
    service: "smtp-helo",
    mx: ["smtp-helo.lab.test"],
    result: { helo_only: true, offered: null, success: null, trust: null, auth_before_tls: null },
    issues: [/^EHLO is refused/],
  },
  {
    what: "a pause and then 421, a result all the same",
    target: "busy.smtp.test",
    service: "smtp-busy",
    mx: ["smtp-busy.lab.test"],
    result: { code: 421, offered: null, success: null, trust: null, auth_before_tls: null },
    issues: [/^The server refuses clients: 421 /],
  },
  {
    what: "the second exchanger where the best one is dead",
    target: "backup.smtp.test",
    service: "smtp-good",
    mx: ["smtp-refused.lab.test", "smtp-good.lab.test"],
    result: SECURED,
    issues: [],
  },
  {
    what: "a key that DNSSEC vouches for",
    target: "mail.test",
    service: "smtp-good",
    mx: [DANE_EXCHANGER, "smtp-plain.lab.test"],
    result: { ...SECURED, dane: "secure" },
    issues: [],
  },
  {
    what: "TLS from the start",
    target: "smtp-good.lab.test",
    port: 465,
    service: "smtp-good",
    mx: [],
    result: { ...SECURED, implicit_tls: true, success: null, auth_before_tls: null },
    issues: [],
  },
  {
    what: "submission",
    target: "smtp-good.lab.test",
    port: 587,
    service: "smtp-good",
    mx: [],
    result: SECURED,
    issues: [],
  },
  {
    what: "an address, for which no certificate is good",
    target: addressOf(LAB, "smtp-good", 6),
    service: "smtp-good",
    mx: [],
    family: 6,
    result: { ...SECURED, trust: { trusted: false, error: "hostname_mismatch" }, dane: null },
    issues: [/hostname_mismatch/],
  },
];

describe.skipIf(why !== null)("the smtp-test tool on the table of mail servers", () => {
  let lab: Lab & { readonly service: Service };
  let api: ApiClient;
  beforeAll(async () => {
    lab = await startServiceLab({ regions: ["eu"] });
    api = await createApiClient(lab.service);
  });
  afterAll(() => lab?.close());

  it.concurrent.each(ROWS)("$what: $target", async ({ target, port, service, mx, family = 4, result, issues }) => {
    const data = await api.getResult<Result>("smtp-test", { target, ...(port === undefined ? {} : { port }) });
    const own = `${service}.lab.test`;
    expect(data).toMatchObject({
      ip: addressOf(LAB, service, family),
      ip_version: family,
      port: port ?? 25,
      implicit_tls: result.implicit_tls ?? false,
      mx_records: mx.map((host, index) => ({ host, priority: 10 * (index + 1) })),
      banner: { code: result.code ?? 220, hostname: own },
      helo_only: result.helo_only ?? false,
      starttls: { offered: result.offered, success: result.success },
      size_limit_bytes: result.size ?? null,
      auth_mechanisms: result.auth ?? [],
      auth_before_tls: result.auth_before_tls,
      ptr: own,
      fcrdns: true,
      ptr_match: true,
      open_relay: null,
    });
    expect(data.mx_used).toBe(mx.length === 0 ? null : data.attempts.at(-1)?.host);
    expect(data.attempts.at(-1)).toMatchObject({ ip: data.ip, result: "connected" });
    expect(data.dane?.status ?? null).toBe(result.dane === undefined ? "absent" : result.dane);
    const { tls } = data.starttls;
    expect(tls && { trusted: tls.trusted, error: tls.error }).toEqual(result.trust);
    if (tls !== null) expect(tls).toMatchObject({ protocol: "TLSv1.3", chain_length: 2 });
    expect(data.findings.map(({ message }) => message)).toEqual(
      issues.map((issue) => expect.stringMatching(issue) as string),
    );
    // No server ever receives a command for a mail.
    const said = data.transcript.filter(({ from }) => from === "client").map(({ text }) => text.split(" ")[0]);
    expect(said.filter((verb) => !["EHLO", "HELO", "STARTTLS", "QUIT"].includes(verb ?? ""))).toEqual([]);
  });

  it.concurrent("reports how long the busy server made it wait, and its reply", async () => {
    const {
      banner,
      timings_ms: timings,
      ehlo,
    } = await api.getResult<Result>("smtp-test", { target: "busy.smtp.test" });
    expect(`${banner?.code} ${banner?.text}`).toBe(BUSY_GREETING);
    // The server's time begins when it accepts, before the connection is known here. Timers may fire a millisecond early.
    expect((timings.connect ?? 0) + (timings.banner ?? 0)).toBeGreaterThan(BUSY_AFTER_MS - 10);
    expect(timings.connect).toBeLessThan(BUSY_AFTER_MS);
    expect(ehlo).toBeNull();
  });

  it.concurrent("tries both addresses of a dead exchanger before the next one", async () => {
    const { attempts } = await api.getResult<Result>("smtp-test", { target: "backup.smtp.test" });
    expect(attempts.map(({ ip, result }) => [ip, result])).toEqual([
      [addressOf(LAB, "smtp-refused", 4), "refused"],
      [addressOf(LAB, "smtp-refused", 6), "refused"],
      [addressOf(LAB, "smtp-good", 4), "connected"],
    ]);
  });

  it.concurrent.each([
    { target: "refused.smtp.test", stage: "connect", reason: "refused", message: /203\.0\.113\.25:25/ },
    {
      target: "filtered.smtp.test",
      stage: "connect",
      reason: "timeout",
      message: /many networks block outgoing port 25/,
    },
    { target: "null.smtp.test", stage: "dns", reason: "null_mx", message: /accepts no mail/ },
    { target: "bare.smtp.test", stage: "dns", reason: "no_address", message: /no address/ },
    { target: "none.smtp.test", stage: "dns", reason: "nxdomain", message: /does not exist/ },
  ])("fails in $stage for $target: $reason", async ({ target, stage, reason, message }) => {
    const deadlineMs = contract.deadlineMs({ target, port: 25 });
    const { status, error } = await endsBy(deadlineMs, () => api.ask<Result>("smtp-test", { target }));
    expect({ status, ...error }).toMatchObject({ status: "failed", stage, source: "target", reason });
    expect(error.message).toMatch(message);
  });
});

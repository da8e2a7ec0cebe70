import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import {
  certificateCall,
  createAsker,
  dnsCalls,
  toToolAnswer,
  traceCall,
  type Asker,
  type Call,
} from "#control-plane/evidence/ask.ts";
import { readBaselines } from "#control-plane/evidence/baselines/baselines.ts";
import { hostOf } from "#control-plane/evidence/cause-key.ts";
import { readCertificate } from "#control-plane/evidence/certificate.ts";
import { findChanges, type Baseline } from "#control-plane/evidence/changes.ts";
import type { CertificateEvidence, DnsEvidence, Evidence, PlaceEvidence } from "#control-plane/evidence/evidence.ts";
import { NO_FACTS, readDnsRecords, readFacts, type Facts } from "#control-plane/evidence/facts.ts";
import { choosePlaces } from "#control-plane/evidence/places.ts";
import type { Task } from "#control-plane/evidence/store.ts";
import { summarize } from "#control-plane/evidence/summary.ts";
import type { AffectedLocation } from "#control-plane/incidents/incident.ts";
import type { MonitorSecrets, MonitorSettings, ProbedType } from "#control-plane/monitors/monitor.ts";
import type { ShownPing } from "#control-plane/monitors/ports.ts";
import { decodeState } from "#control-plane/monitors/state/encoding.ts";
import { monitorCall } from "#control-plane/monitors/watch/monitor-call.ts";
import { readFinding } from "#control-plane/monitors/watch/observe.ts";
import type { Queryable } from "#control-plane/database/connect.ts";

/** What gathering needs. */
export interface GatherDeps {
  readonly sql: Sql;
  readonly checks: CheckContext;
  /** Decrypts the secrets of a monitor. */
  readonly openSecrets: (secrets: Uint8Array | null) => MonitorSecrets;
  /** Returns the newest pings of a heartbeat, newest first. */
  readonly pingsOf: (sql: Queryable, monitorId: number) => Promise<readonly ShownPing[]>;
}

/** Time limit of one monitor's check, seconds; a monitor can have a longer one. */
const MOST_CHECK_SECONDS = 6;
/** Pings that are shown of a heartbeat, and the part of their bodies. */
const MOST_PINGS = 5;
const MOST_PING_BODY = 1_000;

/** A monitor that probes check. */
interface Checked {
  readonly url: string;
  readonly checkType: ProbedType;
  readonly settings: MonitorSettings;
}

/** Gathers the evidence of one outage within `budgetMs`. What is not there by then is left out. Rejects for a bug. */
export async function gatherEvidence(
  deps: GatherDeps,
  task: Task,
  { budgetMs, signal }: { readonly budgetMs: number; readonly signal: AbortSignal },
): Promise<Evidence> {
  const { url, checkType, accountId } = task;
  const settings = JSON.parse(task.settings) as MonitorSettings;
  if (checkType === "heartbeat") return describePings(deps, task);
  const monitor: Checked = { url, checkType, settings };
  const { list } = deps.checks.hub.roster.candidates(accountId);
  const affected = JSON.parse(task.locations) as readonly AffectedLocation[];
  const places = choosePlaces(affected, decodeState(task.state), settings.locations, list);
  const asker = createAsker(deps.checks, { accountId, budgetMs, signal });
  const host = hostOf(monitor);
  const baselines = await readBaselines(deps.sql, task.monitorId, url);
  const lastAddress = findLastAddress(affected, places.failing, baselines);
  const secrets = deps.openSecrets(task.secrets);
  const look = (location: string | null, traced: string) =>
    location === null ? null : askPlace(asker, { monitor, traced, location, secrets });
  const [failing, other, dns] = await Promise.all([
    look(places.failing, lastAddress ?? host),
    look(places.other, host),
    places.failing === null ? null : askDns(asker, host, places.failing),
  ]);
  const healthy = other?.check.verdict === "up" ? other : null;
  const certificate = await findCertificate(asker, monitor, [failing, healthy]);
  const changed =
    failing === null ? [] : findChanges(failing.location, readPresent(failing, dns, certificate), baselines);
  const alsoFailing = other?.check.verdict === "down" ? [other.location] : [];
  return {
    gathered_at: deps.checks.clock.now().toISOString(),
    failing,
    healthy,
    dns,
    certificate,
    changed,
    pings: null,
    summary: summarize({
      cause: task.causeMessage,
      changed,
      lastGoodAt: baselines[0]?.goodAt ?? null,
      failingAt: [...places.failingAt, ...alsoFailing.filter((one) => !places.failingAt.includes(one))],
      failing,
      healthy,
      lastAddress,
      workingAt: places.workingAt.filter((one) => !alsoFailing.includes(one)),
    }),
    truncated: false,
  };
}

/** Checks and traces from one location at the same time. */
async function askPlace(
  asker: Asker,
  asked: {
    readonly monitor: Checked;
    /** Host name or address to trace. */
    readonly traced: string;
    readonly location: string;
    readonly secrets: MonitorSecrets;
  },
): Promise<PlaceEvidence> {
  const { monitor, location, secrets } = asked;
  const { contract, params } = monitorCall(monitor, secrets, null, true);
  const timeout_seconds = Math.min(monitor.settings.timeout_seconds, MOST_CHECK_SECONDS);
  const isLookedUp = monitor.checkType === "dns" || monitor.checkType === "domain";
  const trace = isLookedUp ? null : traceCall(asked.traced);
  const [answer, traced] = await Promise.all([
    asker.ask({ contract, params: { ...params, timeout_seconds } }, location),
    trace === null ? null : asker.ask(trace, location),
  ]);
  const finding = readFinding(answer);
  return {
    location,
    check: {
      verdict: finding?.verdict ?? "unknown",
      response_ms: finding?.responseMs ?? null,
      http_status: finding?.httpStatus ?? null,
      error: finding?.fault ?? null,
      result: finding?.whole ?? null,
    },
    trace: traced === null ? null : toToolAnswer(traced),
  };
}

/**
 * Returns the address of the last good check if the name of the target cannot be looked up now: the trace then shows
 * whether the server is still there. null: the name itself is traced.
 */
function findLastAddress(
  affected: readonly AffectedLocation[],
  failing: string | null,
  baselines: readonly Baseline[],
): string | null {
  const error = affected.find(({ location }) => location === failing)?.error;
  if (error?.stage !== "dns") return null;
  const known = baselines.find(({ location }) => location === failing) ?? baselines[0];
  return known?.facts.address ?? null;
}

async function askDns(asker: Asker, host: string, location: string): Promise<DnsEvidence | null> {
  const calls = dnsCalls(host);
  if (calls.host === null) return null;
  const ask = async (call: Call) => toToolAnswer(await asker.ask(call, location));
  const [found, zone] = await Promise.all([ask(calls.host), calls.zone === null ? null : ask(calls.zone)]);
  return { location, host: found, zone };
}

/**
 * Returns the certificate that a check has seen. Only if a handshake failed, so that none was seen, the server is asked
 * once more: its load stays that of two checks.
 */
async function findCertificate(
  asker: Asker,
  { url, checkType }: Checked,
  places: readonly (PlaceEvidence | null)[],
): Promise<CertificateEvidence | null> {
  for (const place of places) {
    const seen = place === null ? null : readCertificate(place.location, place.check.result);
    if (seen !== null) return seen;
  }
  const [failing] = places;
  if (failing == null || failing.check.error?.stage !== "tls") return null;
  const { port } = URL.parse(url) ?? { port: "" };
  const call = certificateCall(hostOf({ url, checkType }), port === "" ? 443 : Number(port));
  if (call === null) return null;
  const answer = toToolAnswer(await asker.ask(call, failing.location));
  return answer.status === "ok" ? readCertificate(failing.location, answer.data) : null;
}

/** Combines what the failing location sees now. */
function readPresent(failing: PlaceEvidence, dns: DnsEvidence | null, certificate: CertificateEvidence | null): Facts {
  const facts = failing.check.result === null ? NO_FACTS : readFacts(failing.check.result);
  const answered = dns?.host.status === "ok" ? dns.host.data : null;
  const [v4, v6] = [readDnsRecords(answered, "A"), readDnsRecords(answered, "AAAA")];
  const looked = v4 === null && v6 === null ? null : [...(v4 ?? []), ...(v6 ?? [])];
  const isSeenHere = certificate !== null && certificate.location === failing.location;
  return {
    ...facts,
    addresses: facts.addresses ?? looked,
    nameServers: dns?.zone?.status === "ok" ? readDnsRecords(dns.zone.data, "NS") : null,
    certificate: isSeenHere
      ? { fingerprint: certificate.fingerprint_sha256, issuer: certificate.issuer, notAfter: certificate.not_after }
      : facts.certificate,
  };
}

/** Describes the outage of a heartbeat by its newest pings, without any traffic. */
async function describePings({ sql, checks, pingsOf }: GatherDeps, task: Task): Promise<Evidence> {
  const pings = (await pingsOf(sql, task.monitorId)).slice(0, MOST_PINGS);
  const [last] = pings;
  const lastPing = last === undefined ? "No ping was ever received" : `Last ping: ${last.kind} at ${last.received_at}`;
  const lastGood = pings.find(({ kind, exit_code: code }) => kind === "success" || code === 0);
  return {
    gathered_at: checks.clock.now().toISOString(),
    failing: null,
    healthy: null,
    dns: null,
    certificate: null,
    changed: [],
    pings: pings.map((ping) => ({
      ...ping,
      body: ping.body === null ? null : ping.body.slice(0, MOST_PING_BODY).toWellFormed(),
      body_truncated: ping.body_truncated || (ping.body?.length ?? 0) > MOST_PING_BODY,
    })),
    summary: [
      task.causeMessage,
      lastPing,
      lastGood === undefined ? "No success among the newest pings" : `Last success: ${lastGood.received_at}`,
    ],
    truncated: false,
  };
}

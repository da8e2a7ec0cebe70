import { createRedact } from "#shared/text/redact.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { createAsker, type AskedPlace } from "#control-plane/watching/evidence/ask.ts";
import { hostOf } from "#control-plane/watching/evidence/cause-key.ts";
import { compareValues, lastGoodAt, type Baseline } from "#control-plane/watching/evidence/changes.ts";
import type { Task } from "#control-plane/watching/evidence/claims/store.ts";
import type { CertificateEvidence, DnsEvidence, Evidence } from "#control-plane/watching/evidence/evidence.ts";
import { readDnsRecords, type ComparedValues } from "#control-plane/watching/evidence/compared-values.ts";
import { findCertificate, lookFrom, lookUp, type Checked, type Look } from "#control-plane/watching/evidence/look.ts";
import { choosePlaces } from "#control-plane/watching/evidence/places.ts";
import { summarize } from "#control-plane/watching/evidence/summary.ts";
import type { AffectedLocation } from "#control-plane/outages/incidents/incident.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { type ShownPing, readShownPings } from "#control-plane/watching/heartbeats/shown-pings.ts";
import { openSecrets, secretTexts } from "#control-plane/outages/kinds/secrets.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import { isProbed, kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { mergeBaselines } from "#control-plane/watching/evidence/baselines/merge.ts";
import { readBaselines as readRows, readGoodChecks } from "#control-plane/watching/evidence/baselines/store.ts";
import { decodeGoodCheck } from "#control-plane/watching/checking/snapshots/good-check.ts";

/** Pings that are shown of a heartbeat, and the part of their bodies. */
const MOST_PINGS = 5;
const MOST_PING_BODY = 1_000;

/** Describes the outage of a heartbeat by its newest pings, without any traffic. `newest` has the newest first. */
function describePings(cause: string, newest: readonly ShownPing[], gatheredAt: Date): Evidence {
  const pings = newest.slice(0, MOST_PINGS);
  const [last] = pings;
  const lastPing = last === undefined ? "No ping was ever received" : `Last ping: ${last.kind} at ${last.received_at}`;
  const lastGood = pings.find(({ kind, exit_code: code }) => kind === "success" || code === 0);
  return {
    gathered_at: gatheredAt.toISOString(),
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
      cause,
      lastPing,
      lastGood === undefined ? "No success among the newest pings" : `Last success: ${lastGood.received_at}`,
    ],
    truncated: false,
  };
}

/** Gathers the evidence of one outage within `budgetMs`. What is not there by then is left out. Rejects for a bug. */
export async function gatherEvidence(
  { sql, checks, encryption }: Pick<App, "sql"> & { readonly checks: CheckContext; readonly encryption: Encryption },
  task: Task,
  { budgetMs, signal }: { readonly budgetMs: number; readonly signal: AbortSignal },
): Promise<Evidence> {
  const { url, checkType, accountId, monitorId, causeMessage } = task;
  const settings = readStoredSettings(task.settings);
  if (!isProbed(checkType)) {
    return describePings(causeMessage, await readShownPings(sql, monitorId), checks.clock.now());
  }
  const monitor: Checked = { url, checkType, settings };
  const { list } = checks.hub.roster.candidates(accountId);
  const affected = JSON.parse(task.locations) as readonly AffectedLocation[];
  const places = choosePlaces(affected, decodeState(task.state), settings.locations, list);
  const asker = createAsker(checks, { accountId, budgetMs, signal });
  const host = hostOf(monitor);
  const baselines = await readBaselines(sql, monitorId, monitor);
  const lastAddress = findLastAddress(affected, places.failing, baselines);
  const secrets = openSecrets(encryption, task.secrets);
  const redact = createRedact(secretTexts(checkType, secrets));
  const look = (at: AskedPlace | null, traced: string) =>
    at === null ? null : lookFrom(asker, { monitor, traced, at, secrets, redact });
  const failingPlace = places.failing === null ? null : { location: places.failing, sharedOnly: false };
  const elsewhere = kindOf(checkType).evidence.isAskedElsewhere ? places.other : null;
  const [failing, other, dns] = await Promise.all([
    look(failingPlace, lastAddress ?? host),
    look(elsewhere, host),
    places.failing === null ? null : lookUp(asker, host, places.failing),
  ]);
  const healthy = other?.place.check.verdict === "up" ? other.place : null;
  const certificate = await findCertificate(asker, monitor, [failing?.place ?? null, healthy], redact);
  const { changed, compared } =
    failing === null
      ? { changed: [], compared: [] }
      : compareValues(failing.place.location, readPresent(failing, dns, certificate), baselines);
  const alsoFailing = other?.place.check.verdict === "down" ? [other.place.location] : [];
  const silentAt = other?.isCutShort === true ? [other.place.location] : [];
  const notWorking = new Set([...alsoFailing, ...silentAt]);
  return {
    gathered_at: checks.clock.now().toISOString(),
    failing: failing?.place ?? null,
    healthy,
    dns,
    certificate,
    changed,
    pings: null,
    summary: summarize({
      cause: causeMessage,
      changed,
      compared,
      intervalMs: task.intervalMinutes * 60_000,
      lastGoodAt: lastGoodAt(places.failing ?? "", baselines),
      failingAt: [...places.failingAt, ...alsoFailing.filter((one) => !places.failingAt.includes(one))],
      failing: failing?.place ?? null,
      healthy,
      lastAddress,
      workingAt: places.workingAt.filter((one) => !notWorking.has(one)),
      silentAt,
    }),
    truncated: false,
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
  const connected = baselines.filter(({ facts }) => facts.address !== null);
  const known = connected.find(({ location }) => location === failing) ?? connected[0];
  return known?.facts.address ?? null;
}

/** Combines what the failing location sees now. */
function readPresent(
  { place, facts }: Look,
  dns: DnsEvidence | null,
  certificate: CertificateEvidence | null,
): ComparedValues {
  const answered = dns?.host.status === "ok" ? dns.host.data : null;
  const [v4, v6] = [readDnsRecords(answered, "A"), readDnsRecords(answered, "AAAA")];
  const looked = v4 === null && v6 === null ? null : [...(v4 ?? []), ...(v6 ?? [])];
  const isSeenHere = certificate !== null && certificate.location === place.location;
  return {
    ...facts,
    addresses: facts.addresses ?? looked,
    nameServers: dns?.zone?.status === "ok" ? readDnsRecords(dns.zone.data, "NS") : null,
    certificate: isSeenHere
      ? { fingerprint: certificate.fingerprint_sha256, issuer: certificate.issuer, notAfter: certificate.not_after }
      : facts.certificate,
  };
}

/**
 * Reads the last good checks of a monitor for its present target, the newest first: of each location the newest one in
 * short, and the newest one that was reported in full, which is up to an hour older.
 */
export async function readBaselines(
  sql: Sql,
  monitorId: number,
  target: { readonly url: string; readonly checkType: string },
): Promise<readonly Baseline[]> {
  const [rows, checks] = await Promise.all([readRows(sql, monitorId, target.url), readGoodChecks(sql, monitorId)]);
  const full = rows.map(({ location, goodAt, facts }) => ({
    location,
    goodAt,
    facts: JSON.parse(facts) as ComparedValues,
  }));
  const short = checks.flatMap(({ location, goodAt, good }) => {
    const decoded = decodeGoodCheck(good);
    return decoded === null ? [] : { location, goodAt, good: decoded };
  });
  return mergeBaselines(target, full, short);
}

import type { App } from "#control-plane/core/app.ts";
import { topLevelOf } from "#control-plane/watching/expiry/links/targets.ts";
import type { ExpiryMetrics } from "#control-plane/watching/expiry/metrics.ts";
import {
  adoptService,
  pauseRegistry,
  readRefusals,
  releaseRegistry,
} from "#control-plane/watching/expiry/registries-store.ts";
import type { ClaimedTarget } from "#control-plane/watching/expiry/sweep/claims-store.ts";
import type { Look } from "#control-plane/watching/expiry/sweep/look.ts";

const SHORTEST_MS = 60_000;
const LONGEST_MS = 6 * 3_600_000;
/** More doublings make no difference. */
const MOST_DOUBLINGS = 20;

/**
 * Returns how long a registry is not asked after so many questions in a row that it refused or did not answer, in
 * milliseconds. The pause doubles each time and is up to a fifth longer by `luck`, 0 to 1.
 */
export function pauseMs(refusals: number, luck: number): number {
  const doubled = SHORTEST_MS * 2 ** Math.min(Math.max(refusals - 1, 0), MOST_DOUBLINGS);
  return Math.round(Math.min(LONGEST_MS, doubled) * (1 + luck / 5));
}

/**
 * Ends the claim of the registry that was asked in a sweep, if one was: the next question can be asked. A registry that
 * refused the question or did not answer it is paused; that is stored, so that restarts and other replicas keep to it.
 * A failure of another cause, such as no probe, says nothing about the registry. `look` is null if nothing was asked.
 * `luck` returns 0 to 1.
 */
export async function endQuestion(
  {
    sql,
    clock,
    log,
    metrics,
    luck,
  }: Pick<App, "sql" | "clock" | "log"> & {
    readonly metrics: Pick<ExpiryMetrics, "pauses">;
    readonly luck: () => number;
  },
  { id, target, registry, lease }: Pick<ClaimedTarget, "id" | "target" | "registry" | "lease">,
  look: Look | null,
): Promise<void> {
  if (registry === null) return;
  const claim = { registry, lease };
  if (look?.kind === "failed" && look.isRefused) {
    const refusals = (await readRefusals(sql, registry)) + 1;
    const until = new Date(clock.now().getTime() + pauseMs(refusals, luck()));
    await pauseRegistry(sql, claim, { refusals, until });
    metrics.pauses.inc();
    log.info({ registry, reason: look.reason, refusals, until }, "expiry: a registry does not answer; it is paused");
    return;
  }
  await releaseRegistry(sql, claim, look?.kind === "domain");
  if (look?.kind !== "domain" || look.service === null || look.service === registry) return;
  const topLevel = topLevelOf(target);
  // WHOIS answers only where RDAP does not: a service that is known stays, so that each registry has one pause.
  if (look.facts.source === "whois" && registry !== topLevel) return;
  await adoptService(sql, { topLevel, service: look.service, targetId: id });
}

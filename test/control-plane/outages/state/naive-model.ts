import type { FailingLocation, StateEvent } from "#control-plane/outages/state/events.ts";
import type { Observation, StateSettings } from "#control-plane/outages/state/state.ts";
import type { Recheck } from "#control-plane/outages/state/rechecks.ts";
import type { Step } from "#test/control-plane/outages/state/random-histories.ts";

type Known = "up" | "down";

/** An observation that counted. */
interface Seen extends Observation {
  readonly verdict: Known;
  at: number;
  /** The newest verdict of the location, if any, was no longer fresh when this one arrived. */
  readonly isAfterSilence: boolean;
  /** The monitor was last known to be down. */
  readonly isInOutage: boolean;
}

/** What was decided at one step. */
interface Decided {
  at: number;
  readonly status: Known | "unknown";
  readonly seen: Seen | null;
  readonly isFlapping: boolean;
  readonly isDegraded: boolean;
  readonly isUnsteady: boolean;
  readonly named: readonly string[];
  readonly unsteady: readonly string[];
  readonly hasData: boolean;
}

/** What the model says after a step. */
export interface Verdict {
  readonly status: Known | "unknown";
  readonly lastKnown: Known | null;
  readonly isFlapping: boolean;
  readonly isDegraded: boolean;
  readonly failing: readonly string[];
  readonly unsteady: readonly string[];
  readonly remindAt: number | null;
  readonly events: readonly StateEvent[];
  readonly rechecks: readonly Recheck[];
}

/**
 * The rules of monitors' states, written as they are spoken: nothing is carried from step to step but the list of all
 * that was seen and decided, from which everything is computed anew each time.
 */
export function createModel(settings: StateSettings): (step: Step, isDegradedReported: boolean) => Verdict {
  const seen: Seen[] = [];
  const decided: Decided[] = [];
  // The beginnings of outages and recoveries, and the times at which they were found.
  const turns: { began: number; found: number; isForgotten: boolean }[] = [];
  let reminders: number[] = [];
  const several = settings.locations.length > 1;

  const of = (location: string) => seen.filter((one) => one.location === location);
  const isFresh = (one: Seen | undefined, now: number) =>
    one !== undefined && (settings.isPassive || one.at >= now - 2 * settings.intervalMs - settings.timeoutMs);
  /** The checks in a row at a location with its newest verdict, oldest first. */
  function streak(location: string): readonly Seen[] {
    const all = of(location);
    let first = all.length - 1;
    while (first > 0 && !all[first]!.isAfterSilence && all[first - 1]!.verdict === all[first]!.verdict) first -= 1;
    return all.slice(Math.max(first, 0));
  }
  const since = (location: string) => Math.min(...streak(location).map(({ at }) => at));

  /** The planned checks in a row at a location that failed without failing on, oldest first. */
  function softState(location: string): readonly Seen[] {
    let run: readonly Seen[] = [];
    for (const [index, one] of of(location).entries()) {
      const isFailingOn = !one.isAfterSilence && of(location)[index - 1]?.verdict === "down";
      if (one.isAfterSilence || one.isInOutage || settings.isPassive) run = [];
      if (one.isInOutage || settings.isPassive || one.isRecheck) continue;
      run = one.verdict === "up" || isFailingOn ? [] : [...run, one];
    }
    return run;
  }

  /** No time lies after now: what was written before the clock was set back happened at the latest now. */
  function bound(now: number): void {
    for (const one of seen) one.at = Math.min(one.at, now);
    for (const one of decided) one.at = Math.min(one.at, now);
    for (const turn of turns) {
      turn.began = Math.min(turn.began, now);
      turn.found = Math.min(turn.found, now);
      // For good, also if the clock is set back after that.
      turn.isForgotten ||= turn.found <= now - 3_600_000;
    }
  }

  return ({ now, observation }, isDegradedReported) => {
    const newest = observation === null ? undefined : of(observation.location).at(-1);
    const isLate = newest !== undefined && observation !== null && newest.at <= now && observation.beganAt < newest.at;
    bound(now);
    const lastKnownBefore = (decided.findLast(({ status: was }) => was !== "unknown")?.status ?? null) as Known | null;
    let added: Seen | null = null;
    if (observation !== null && observation.verdict !== "unknown" && !isLate) {
      if (settings.locations.includes(observation.location)) {
        const isAfterSilence = !isFresh(newest, now);
        added = {
          ...observation,
          verdict: observation.verdict,
          at: Math.min(observation.beganAt, now),
          isAfterSilence,
          isInOutage: lastKnownBefore === "down",
        };
        seen.push(added);
      }
    }

    const before = decided.at(-1);
    const statusBefore = before?.status ?? "unknown";
    const recentTurns = () => turns.slice(1).filter(({ isForgotten }) => !isForgotten).length;
    // The first status that is known is no change.
    const wasFlapping = recentTurns() >= 5;

    const fresh = settings.locations.filter((location) => isFresh(of(location).at(-1), now));
    const verdict = (location: string) => of(location).at(-1)?.verdict;
    let failures = settings.retries + 1;
    if (several) failures = settings.quorum === 1 ? 2 : 1;
    if (wasFlapping && failures < 3 && !settings.isPassive) failures = 3;
    const successes = lastKnownBefore === "down" ? settings.recovery : 1;
    const down = fresh.filter((location) => verdict(location) === "down" && streak(location).length >= failures);
    const up = fresh.filter((location) => verdict(location) === "up" && streak(location).length >= successes);

    let status: Known | "unknown" = statusBefore;
    if (fresh.length === 0 || (several && fresh.length === 1)) status = "unknown";
    else if (settings.quorum === "majority" && down.length > fresh.length / 2) status = "down";
    else if (settings.quorum !== "majority" && (down.length >= settings.quorum || down.length === fresh.length)) {
      status = "down";
    } else if (up.length > fresh.length / 2) status = "up";
    const lastKnown = status === "unknown" ? lastKnownBefore : status;

    const failingNow: readonly FailingLocation[] = fresh
      .filter((location) => verdict(location) === "down")
      .map((location) => ({ location, fault: of(location).at(-1)!.fault, since: since(location) }));
    const named = before?.named ?? [];
    const events: StateEvent[] = [];

    if (status === "down" && statusBefore !== "down") {
      const isNotice = lastKnownBefore !== "down";
      let startedAt = turns.at(-1)?.began ?? now;
      if (isNotice) {
        const joined = down.filter((location) => lastKnownBefore !== "up" || !named.includes(location));
        startedAt =
          joined.length > 0 ? Math.min(...joined.map(since)) : Math.max(...down.map((one) => of(one).at(-1)!.at));
        if (lastKnownBefore === "up") startedAt = Math.max(startedAt, turns.at(-1)!.began);
        turns.push({ began: startedAt, found: now, isForgotten: false });
      }
      events.push({
        kind: "down",
        at: now,
        startedAt,
        previous: statusBefore,
        isNotice,
        failing: failingNow,
      });
    }
    if (status === "up" && statusBefore !== "up") {
      const changed = decided.findLastIndex(({ status: was }, at) => was !== (decided[at - 1]?.status ?? "unknown"));
      const changedAt = changed < 0 ? -Infinity : decided[changed]!.at;
      const failedAt = Math.max(-Infinity, ...seen.filter((one) => one.verdict === "down").map(({ at }) => at));
      const last = lastKnownBefore === "down" ? failedAt : -Infinity;
      const joined = up
        .filter((location) => since(location) >= changedAt)
        .map((location) => (since(location) > last ? since(location) : of(location).at(-1)!.at))
        .filter((time) => time > last);
      const recoveredAt = joined.length > 0 ? Math.min(...joined) : now;
      if (lastKnownBefore !== "up") turns.push({ began: recoveredAt, found: now, isForgotten: false });
      events.push({
        kind: "up",
        at: now,
        recoveredAt,
        previous: statusBefore,
        isNotice: lastKnownBefore === "down",
      });
    }
    if (status === "unknown" && statusBefore !== "unknown") {
      const silent = settings.locations.filter((location) => !fresh.includes(location));
      events.push({ kind: "unknown", at: now, previous: statusBefore, silent });
    }

    const isFlapping = recentTurns() >= 5;
    if (isFlapping !== (before?.isFlapping ?? false)) events.push({ kind: "flapping", at: now, isFlapping });
    // Nobody tells it here, so it stays due.
    if (isFlapping) events.push({ kind: "flapping_notice", at: now, phase: "begins" });

    let failing = named;
    if (status === "down") {
      failing = failingNow.map(({ location }) => location);
      if (statusBefore === "down" && [...failing].toSorted().join() !== [...named].toSorted().join()) {
        events.push({ kind: "failing", at: now, failing: failingNow });
      }
    }
    if (status === "up") {
      // Of the time after an outage, only checks after it say something.
      const isSaid = (location: string) => of(location).at(-1)!.at > turns.at(-1)!.began;
      const sole = failingNow.filter(({ location }) => several && streak(location).length >= 3 && isSaid(location));
      failing = sole.map(({ location }) => location);
      const old = lastKnownBefore === "down" ? [] : named;
      if ([...failing].toSorted().join() !== [...old].toSorted().join()) {
        events.push({ kind: "advisory", at: now, failing: sole, isNew: old.length === 0 });
      }
    }

    let unsteady = before?.unsteady ?? [];
    if (status === "down") unsteady = [];
    if (status === "up") {
      // The newest one has not passed yet if the location fails now.
      const passed = (one: string) => softState(one).length - (verdict(one) === "down" ? 1 : 0);
      const trying = fresh.filter((one) => passed(one) >= 3 && of(one).at(-1)!.at > turns.at(-1)!.began);
      if ([...trying].toSorted().join() !== [...unsteady].toSorted().join()) {
        const tries = trying.map((location) => {
          const run = softState(location);
          return { location, fault: run.at(-1)!.fault, since: run[0]!.at };
        });
        events.push({ kind: "soft_state", at: now, failing: tries, isNew: unsteady.length === 0 });
      }
      unsteady = trying;
    }

    // The speeds of the planned good checks since the monitor was last down, those made while it was unknown left out.
    const upSince = decided.findLastIndex(({ status: was }) => was === "down") + 1;
    const isUnsteady = unsteady.length > 0 && settings.degradedMs !== null;
    const whileUp = [...decided.slice(upSince), { status, seen: added, isUnsteady }].filter(
      (one) => one.status === "up",
    );
    const isSlow: boolean[] = [];
    let isDegraded = false;
    for (const { seen: one, isUnsteady: isToo } of whileUp) {
      if (one !== null && one.verdict === "up" && !one.isRecheck && one.responseMs !== null) {
        isSlow.push(one.responseMs > (settings.degradedMs ?? Infinity));
        const last = isSlow.slice(-3);
        if (last.length === 3 && last.every(Boolean)) isDegraded = true;
        if (last.length === 3 && !last.some(Boolean)) isDegraded = false;
      }
      isDegraded ||= isToo;
    }
    if (status === "down") isDegraded = false;
    if (isDegraded && before?.isDegraded !== true) {
      events.push({ kind: "degraded", at: now, responseMs: isUnsteady ? null : added!.responseMs! });
    }
    const isQuick = settings.degradedMs === null || (isSlow.length >= 3 && !isSlow.slice(-3).some(Boolean));
    if (!isDegraded && status === "up" && (before?.isDegraded === true || (isDegradedReported && isQuick))) {
      events.push({ kind: "recovered_speed", at: now });
    }

    // The times of all further reminders of this outage.
    if (settings.repeatMs === null || lastKnown !== "down") reminders = [];
    else {
      const every = settings.repeatMs;
      const from = lastKnownBefore === "down" ? Math.min(reminders[0]!, now + every) : now + every;
      reminders = Array.from({ length: 200 }, (_, times) => from + times * every);
      if (status === "down" && from <= now) {
        events.push({ kind: "reminder", at: now });
        reminders = reminders.filter((time) => time > now);
      }
    }

    const hasData = settings.isPassive || fresh.length >= (several ? 2 : 1);
    const noData = hasData ? [] : decided.slice(decided.findLastIndex((one) => one.hasData) + 1);
    const noDataSince = noData[0]?.at ?? now;
    if (!hasData && now - noDataSince >= 600_000) {
      events.push({
        kind: "no_data",
        at: now,
        since: noDataSince,
        silent: settings.locations.filter((one) => !fresh.includes(one)),
      });
    }

    const flags = { isFlapping, isDegraded, isUnsteady, hasData };
    decided.push({ at: now, status, seen: added, ...flags, named: failing, unsteady });
    return {
      status,
      lastKnown,
      isFlapping,
      isDegraded,
      failing,
      unsteady,
      remindAt: reminders[0] ?? null,
      events,
      rechecks: settings.isPassive ? [] : added !== null ? ask(added) : askAgain(),
    };

    /** A check that said nothing is repeated while what it was to confirm is no more than a minute old. */
    function askAgain(): readonly Recheck[] {
      if (observation?.verdict !== "unknown" || !settings.locations.includes(observation.location)) return [];
      const { location } = observation;
      const isRecent = (one: string) => of(one).length > 0 && of(one).at(-1)!.at >= now - 60_000;
      const length = streak(location).length;
      const opens =
        verdict(location) === "up"
          ? lastKnown === "down" && length < successes
          : status !== "down" && length < (several && failures < 2 ? 2 : failures);
      const others = settings.locations.filter((other) => {
        if (other === location || verdict(other) !== "down" || !isRecent(other)) return false;
        if (streak(other).length > (failures > 2 ? failures : 2)) return false;
        const last = of(location).at(-1);
        return !isFresh(last, now) || (last!.verdict === "up" && last!.at < since(other));
      });
      const isAsked = status !== "down" && others.length > 0;
      return (isRecent(location) && opens) || isAsked ? [{ location, at: now + 1_000 }] : [];
    }

    function ask({ location, isRecheck }: Seen): readonly Recheck[] {
      const again = { location, at: now + 1_000 };
      const length = streak(location).length;
      if (verdict(location) === "up") {
        // Whether the others have recovered too is asked once, by the first good check that was planned.
        const isFirst = several && lastKnownBefore === "down" && length === 1 && !isRecheck;
        const unrecovered = settings.locations.filter((other) => {
          const last = of(other).at(-1);
          if (other === location) return false;
          return !isFresh(last, now) || (last!.verdict === "down" && last!.at <= now - 1_000);
        });
        const asked = isFirst ? unrecovered.map((other) => ({ location: other, at: now })) : [];
        return lastKnown === "down" && length < successes ? [...asked, again] : asked;
      }
      if (status === "down") return [];
      if (!several) return length < failures ? [again] : [];
      const others = settings.locations.filter((other) => {
        const last = of(other).at(-1);
        if (other === location) return false;
        return !isFresh(last, now) || (last!.verdict === "up" && last!.at <= now - 1_000);
      });
      const asked = [...others.map((other) => ({ location: other, at: now })), again];
      if (length === 1) return isRecheck ? [again] : asked;
      if (length < failures) return asked;
      // The others that have said nothing since this location began to fail.
      const silent = others.filter(
        (other) => !isFresh(of(other).at(-1), now) || of(other).at(-1)!.at < since(location),
      );
      return isRecheck ? [] : silent.map((other) => ({ location: other, at: now }));
    }
  };
}

import { matches, type Place } from "#shared/internet/locations.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { readLocation } from "#control-plane/watching/checking/watch/served.ts";
import {
  countActive,
  countAskingForMail,
  countByGroup,
  countOverdue,
  listLocations,
  readHistoryLag,
  type Affected,
  type CheckedLocation,
  type HistoryLag,
  type Overdue,
  readUnknownChecks,
  readUnknown,
} from "#control-plane/watching/checking/survey-store.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import { isFresh } from "#control-plane/outages/state/locations.ts";
import { NEW_STATE, type MonitorState } from "#control-plane/outages/state/state.ts";

/** An enrolled agent. */
interface SurveyedAgent {
  readonly place: Place;
  /** The only account that can use it; null: all. */
  readonly accountId: number | null;
  readonly isOnline: boolean;
}

/** Locations that no agent serves, grouped by the regions of the agents that would. */
export interface WithoutAgent extends Affected {
  /** The regions, separated by commas; the location itself if no enrolled agent matches it. */
  readonly group: string;
  readonly locations: readonly string[];
}

/** Locations of one group whose agents could not run the newest checks. */
export interface Faulty {
  readonly group: string;
  readonly checks: readonly FaultyCheck[];
}

/** What keeps monitors over all accounts from being checked and judged. */
export interface Survey {
  readonly enrolled: number;
  readonly online: number;
  /** The active monitors; not counted if an agent is online. */
  readonly active: Affected;
  readonly withoutAgent: readonly WithoutAgent[];
  readonly faulty: readonly Faulty[];
  /** Monitors for which nothing above explains that too few of their locations have results. */
  readonly silent: readonly SilentMonitor[];
  readonly overdue: Overdue;
  /** Those of them whose changes are to be mailed; not counted if mail is configured. */
  readonly askingForMail: Affected;
  readonly history: HistoryLag;
}

/** Options of a survey. */
interface SurveyOptions {
  readonly agents: readonly SurveyedAgent[];
  readonly now: Date;
  readonly isMailConfigured: boolean;
  /** Maximum number of ids of each list. */
  readonly mostIds: number;
  /** How late a check must be to count as overdue, in milliseconds. */
  readonly overdueMs: number;
}

/** Age of faulty checks, in milliseconds: older ones of monitors with longer intervals say nothing about the present. */
const FAULTY_MS = 10 * 60_000;
const MOST_FAULTY = 5_000;
const MOST_OVERDUE = 5_000;
/** Reasons that the control plane gives: no agent has run the check. Warnings about locations and lag cover them. */
const NOT_RUN = ["no_probe", "probe_elsewhere", "busy", "declined", "probe_lost", "target_budget", "not_run"];

/** Nothing is affected, or nobody needs to know. */
const NONE: Affected = { monitorCount: 0, monitorIds: [] };

/**
 * Reads what keeps monitors from being checked. Each of its statements reads a bounded number of rows or a part of an
 * index, except for the search for unknown monitors, which reads the short rows of their states. Without an agent the
 * active monitors are counted, too.
 */
export async function surveyMonitors(
  sql: Queryable,
  { agents, now, isMailConfigured, mostIds, overdueMs }: SurveyOptions,
): Promise<Survey> {
  const online = agents.filter(({ isOnline }) => isOnline);
  const privateAccounts = [...new Set(online.flatMap(({ accountId }) => accountId ?? []))];
  const locations = await listLocations(sql, privateAccounts);
  const missing = locations.filter((one) => !servedBy(online, one));
  const hasNoAgent = (location: string, accountId: number): boolean =>
    missing.some((one) => one.location === location && one.accountId === ownerOf(accountId, privateAccounts));
  const since = new Date(now.getTime() - FAULTY_MS);
  const checks = await readFaulty(sql, { since, except: NOT_RUN, most: MOST_FAULTY });
  const faulty = checks.filter(({ location, accountId }) => !hasNoAgent(location, accountId));
  const isFaulty = (location: string): boolean => faulty.some((one) => one.location === location);
  const silent = await readSilent(sql, now);
  return {
    enrolled: agents.length,
    online: online.length,
    active: online.length > 0 ? NONE : await countActive(sql, mostIds),
    withoutAgent: await groupNoAgent(sql, agents, missing, { privateAccounts, mostIds }),
    faulty: groupFaulty(online, faulty),
    silent: silent.filter(
      ({ missing: silentAt, accountId }) =>
        !silentAt.every((location) => hasNoAgent(location, accountId) || isFaulty(location)),
    ),
    overdue: await countOverdue(
      sql,
      {
        now,
        before: new Date(now.getTime() - overdueMs),
        except: missing.map(({ location }) => location),
        most: mostIds,
      },
      MOST_OVERDUE,
    ),
    askingForMail: isMailConfigured ? NONE : await countAskingForMail(sql, mostIds),
    history: await readHistoryLag(sql),
  };
}

function ownerOf(accountId: number, privateAccounts: readonly number[]): number {
  return privateAccounts.includes(accountId) ? accountId : 0;
}

/** Reports whether any of these agents serves a location. */
function servedBy(agents: readonly SurveyedAgent[], { location, accountId }: CheckedLocation): boolean {
  return matchingAgents(agents, location).some((agent) => agent.accountId === null || agent.accountId === accountId);
}

function matchingAgents(agents: readonly SurveyedAgent[], location: string): readonly SurveyedAgent[] {
  const items = readLocation(location);
  if (items === null) return [];
  return agents.filter(({ place }) => items.every((item) => matches(place, item)));
}

/** Names the group of a location. Locations that depend on the same agents have one cause, however they are written. */
function groupOf(agents: readonly SurveyedAgent[], location: string): string {
  const regions = new Set(matchingAgents(agents, location).map(({ place }) => place.region));
  return regions.size === 0 ? location : [...regions].toSorted().join(", ");
}

async function groupNoAgent(
  sql: Queryable,
  agents: readonly SurveyedAgent[],
  missing: readonly CheckedLocation[],
  { privateAccounts, mostIds }: { readonly privateAccounts: readonly number[]; readonly mostIds: number },
): Promise<readonly WithoutAgent[]> {
  if (missing.length === 0) return [];
  const grouped = missing.map((one) => ({ ...one, group: groupOf(agents, one.location) }));
  const rows = await countByGroup(sql, grouped, privateAccounts, mostIds);
  return rows.map((row) => ({
    ...row,
    locations: [...new Set(grouped.filter(({ group }) => group === row.group).map(({ location }) => location))],
  }));
}

function groupFaulty(agents: readonly SurveyedAgent[], checks: readonly FaultyCheck[]): readonly Faulty[] {
  const groups = Map.groupBy(checks, ({ location }) => groupOf(agents, location));
  return Array.from(groups, ([group, members]) => ({ group, checks: members }));
}

/** A check that a probe could not run, and that is the newest of its monitor at its location. */
interface FaultyCheck {
  readonly monitorId: number;
  readonly accountId: number;
  readonly location: string;
  readonly reason: string;
}

/**
 * Reads the newest checks since a time that a probe could not run, for other reasons than these, newest first. Faults are
 * parsed here and not by the database, where one that cannot be parsed would fail the whole survey: it is left out.
 */
async function readFaulty(
  sql: Queryable,
  { since, except, most }: { readonly since: Date; readonly except: readonly string[]; readonly most: number },
): Promise<readonly FaultyCheck[]> {
  const checks = await readUnknownChecks(sql, { since, most });
  return checks.flatMap(({ fault: text, ...check }) => {
    const fault = parse(text);
    if (!isRecord(fault) || fault["source"] !== "probe") return [];
    const reason = typeof fault["reason"] === "string" ? fault["reason"] : "";
    return except.includes(reason) ? [] : [{ ...check, reason }];
  });
}

function parse(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** An active monitor that is unknown because fewer than two of its locations have recent results. */
interface SilentMonitor {
  readonly id: number;
  readonly accountId: number;
  /** The locations without a recent result. */
  readonly missing: readonly string[];
}

const MOST_MONITORS = 2_000;
/** Fewer locations with recent results are no evidence (state/votes.ts). */
const MIN_FRESH = 2;

/** Reads the monitors with several locations that are unknown for lack of results. New ones do not count yet. */
export async function readSilent(sql: Queryable, now: Date): Promise<readonly SilentMonitor[]> {
  const rows = await readUnknown(sql, MOST_MONITORS);
  return rows.flatMap(({ id, accountId, locations, settings: text, state: stateText, intervalSeconds, updatedAt }) => {
    const { timeout_seconds } = readStoredSettings(text);
    const state = readState(stateText);
    const times = { intervalMs: intervalSeconds * 1_000, timeoutMs: timeout_seconds * 1_000, isPassive: false };
    const missing = locations.filter((location) => {
      const known = state.locations.get(location);
      return known === undefined || !isFresh(times, known, now.getTime());
    });
    const isNew = state.changedAt === null && isFresh(times, { at: updatedAt.getTime() }, now.getTime());
    return isNew || locations.length - missing.length >= MIN_FRESH ? [] : [{ id, accountId, missing }];
  });
}

/** A broken state holds no results, and must not fail the survey of all monitors. */
function readState(text: string): MonitorState {
  try {
    return decodeState(text);
  } catch {
    return NEW_STATE;
  }
}

import type { Clock } from "#shared/clock.ts";
import type { Denials } from "#shared/egress.ts";
import type { LocationItem } from "#shared/locations.ts";
import type { Contract, Observation } from "#shared/tools/define.ts";
import type { CheckAnswer, CheckEvent, Location } from "#control-plane/checks/answer.ts";
import type { ResultCache } from "#control-plane/checks/cache.ts";
import type { Pacer } from "#control-plane/checks/target-pacer.ts";
import type { Reached } from "#control-plane/checks/target.ts";
import type { Hub } from "#control-plane/dispatch/hub.ts";
import type { TargetBudget } from "#control-plane/limits/target-budget.ts";

/** A call whose job the control plane adds to. */
export interface InputCall {
  readonly contract: Contract;
  readonly params: Readonly<Record<string, unknown>>;
  readonly accountId: number | null;
  /** Runs another check for the same caller. */
  readonly askElsewhere: (question: Question) => Promise<CheckAnswer>;
}

/** Another check that a call asks for. */
export type Question = Pick<CheckRequest, "contract" | "params" | "locations" | "maxLocations" | "pace" | "deadlineMs">;

/** Gathers the input of a job; rejects only for a bug. */
export type InputGatherer = (call: InputCall) => Promise<Readonly<Record<string, unknown>>>;

/** What the control plane adds to jobs: facts of its own, or answers of other agents. */
export interface Inputs {
  /** Keeps the names and addresses that a result shows. */
  observe(accountId: number | null, seen: readonly Observation[]): void;
  /** By the tool's name; a tool without one gets only the input that its caller's surface gives. */
  readonly gatherers: ReadonlyMap<string, InputGatherer>;
}

/** What checks need of the app. */
export interface CheckContext {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly results: ResultCache;
  /** Of on-demand calls at one target; absent: no limit. */
  readonly budget?: TargetBudget;
  /** Of paced jobs at one target; absent: no limit. */
  readonly pacer?: Pacer;
  /** Targets whose owners want no checks. */
  readonly optOut?: Denials;
  /** What goes with jobs of tools that take input, and what is learnt of results; absent: nothing. */
  readonly inputs?: Inputs;
}

/** One call, whatever surface it came through. */
export interface CheckRequest {
  readonly contract: Contract;
  /** Parsed by the contract. */
  readonly params: Readonly<Record<string, unknown>>;
  /** What this control plane adds to them, by the contract's `input`; never a caller's own words unchecked. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** What `input` has the agent reach besides the target. */
  readonly reaches?: Reached;
  /** The caller's account; null: none (open tier). */
  readonly accountId: number | null;
  /** Null: one agent of the system's choice, and the contract's own shape. */
  readonly locations: readonly LocationItem[] | null;
  /** Of what `locations` comes to only these, chosen earlier (measurements); where it is empty, another agent may be any. */
  readonly places?: readonly Location[];
  /** Most probes of one call (the plan's). */
  readonly maxLocations: number;
  /** Somebody waits for it (the default), or it is one of many that the system spreads out: monitors, batches. */
  readonly pace?: "on-demand" | "paced";
  /** Say where it would run and run nothing. */
  readonly dryRun?: boolean;
  /** A dry run that takes the target's budget all the same: for a call that is run later, at the system's pace. */
  readonly reserves?: boolean;
  /** Less than the contract's own deadline, milliseconds. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** `planned`: the probe chosen for the location, also where another took its place. */
  readonly onEvent?: (event: CheckEvent, planned: string) => void;
  /** A probe sent a progress event that does not count: too many, too large, or no JSON. */
  readonly onProgressDropped?: () => void;
}

import type { Clock } from "#shared/time/clock.ts";
import type { Denials } from "#shared/internet/egress.ts";
import type { LocationItem } from "#shared/internet/locations.ts";
import type { Contract, Observation } from "#shared/tools/define.ts";
import type { CheckAnswer, CheckEvent, Location } from "#control-plane/checks/answer.ts";
import type { ResultCache } from "#control-plane/checks/cache.ts";
import type { Pacer } from "#control-plane/checks/target-pacer.ts";
import type { ExtraDestination } from "#control-plane/checks/target.ts";
import type { Hub } from "#control-plane/checks/dispatch/hub.ts";
import type { TargetBudget } from "#control-plane/http/limits/target-budget.ts";

/** A call for which the control plane gathers input. */
export interface InputCall {
  readonly contract: Contract;
  readonly params: Readonly<Record<string, unknown>>;
  readonly accountId: number | null;
  /** Runs another check for the same caller. */
  readonly askElsewhere: (question: Question) => Promise<CheckAnswer>;
}

/** Another check that a call needs. */
type Question = Pick<CheckRequest, "contract" | "params" | "locations" | "maxLocations" | "pace" | "deadlineMs">;

/** Gathers the input of a job; rejects only for a bug. */
export type InputGatherer = (call: InputCall) => Promise<Readonly<Record<string, unknown>>>;

/** Input that the control plane adds to jobs: its own facts, or answers of other agents. */
export interface Inputs {
  /** Stores the names and addresses that a result contains. */
  observe(accountId: number | null, seen: readonly Observation[]): void;
  /** Gatherers by tool name; a tool without one gets only the input of the caller's surface. */
  readonly gatherers: ReadonlyMap<string, InputGatherer>;
}

/** Dependencies of checks. */
export interface CheckContext {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly results: ResultCache;
  /** Limit of on-demand calls for each target; absent: none. */
  readonly budget?: TargetBudget;
  /** Limit of paced jobs for each target; absent: none. */
  readonly pacer?: Pacer;
  /** Targets whose owners opted out of checks. */
  readonly optOut?: Denials;
  /** Input of jobs, and storage of observations from results; absent: none. */
  readonly inputs?: Inputs;
}

/** A call, independent of its surface. */
export interface CheckRequest {
  readonly contract: Contract;
  /** Parameters parsed by the contract. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Input that this control plane adds (contract.input); never unvalidated data of the caller. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Host that `input` makes the agent connect to besides the target. */
  readonly reaches?: ExtraDestination;
  /** Account of the caller; null without one (open tier). */
  readonly accountId: number | null;
  /** null if the control plane chooses one agent; the answer then has the shape of the contract. */
  readonly locations: readonly LocationItem[] | null;
  /** Use shared probes only, also where the account has its own. Default: both. */
  readonly sharedOnly?: boolean;
  /** Places chosen earlier (measurements), in place of a new choice; without `locations` any agent can replace one. */
  readonly places?: readonly Location[];
  /** Maximum number of probes of one call, by the plan. */
  readonly maxLocations: number;
  /** on-demand (default): a caller waits for it; paced: one of many that the system spreads out (monitors, batches). */
  readonly pace?: "on-demand" | "paced";
  /** Return the locations without running the check. */
  readonly dryRun?: boolean;
  /** A dry run that counts against the target's budget: for a call that runs later, paced. */
  readonly reserves?: boolean;
  /** Deadline in milliseconds, if shorter than that of the contract. */
  readonly deadlineMs?: number;
  /** How long it may wait for a free agent before its deadline begins, milliseconds; absent: waiting counts. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** `planned`: the probe chosen for the location, even if another one replaced it. */
  readonly onEvent?: (event: CheckEvent, planned: string) => void;
  /** Called when a job is sent to an agent, again if another agent replaces a lost one. */
  readonly onSent?: () => void;
  /** Called for a dropped progress event: too many, too large, or not JSON. */
  readonly onProgressDropped?: () => void;
}

import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { Job } from "#shared/protocol/probe.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { createTrials, type Trials } from "#control-plane/monitors/try/try.ts";
import { BUILT_IN_PLANS, type PlanName } from "#control-plane/core/plans.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";

const URL = "/api/v4/monitors";
/** Path of a try. */
export const TRY = `${URL}?action=try`;
/** With a plan that has room for one monitor. */
const PLANS = { ...WIDE_PLANS, starter: { ...BUILT_IN_PLANS.starter, monitors: 1, locations: 2 } };

/** The result of a good check of a website. */
export const GOOD = {
  verdict: "up",
  response_ms: 12,
  http_status: 200,
  fault: null,
  whole: null,
  phases: { redirect_ms: 0, dns_ms: 1, connect_ms: 2, tls_ms: 3, processing_ms: 6 },
  elapsed_ms: 20,
} as const;

type Answers = (job: Job) => Outcome<unknown> | Promise<Outcome<unknown>>;

/** An account: tries are counted by account. */
interface Account {
  readonly id: number;
  readonly key: string;
  readonly tryOut: (given: object) => Promise<Answer>;
  readonly create: (given: object) => Promise<Answer>;
}

/** A replica with probes at eu-west and us-east, whose answers a test sets. */
export interface TrialWorld extends MonitorService {
  /** What the probes answer from now on. */
  answer(how: Answers): void;
  /** Attaches a probe with a browser. */
  attachBrowser(): { cut(): void };
  openAccount(plan?: PlanName): Promise<Account>;
  /** Opens other tries of the same replica. */
  openTrials(over: Partial<Parameters<typeof createTrials>[0]>): Trials;
}

/** Starts a world. Call `stop` in afterAll. */
export async function startTrialWorld(): Promise<TrialWorld> {
  const service = await startMonitorService({ plans: PLANS });
  let answers: Answers = () => ok(GOOD);
  const work: Answers = (job) => answers(job);
  for (const region of ["eu-west", "us-east"]) service.attach(region, {}, work);
  return {
    ...service,
    answer: (how) => {
      answers = how;
    },
    attachBrowser: () => service.attach("browser", { capabilities: ["browser"] }, work),
    async openAccount(plan = "captain") {
      const { body } = await service.operate("POST", "/api/admin/keys", { plan });
      const { account_id: id, key } = body.data as { account_id: number; key: string };
      const post = (path: string) => (given: object) => service.call(path, { key, body: given });
      return { id, key, tryOut: post(TRY), create: post(URL) };
    },
    openTrials(over) {
      const { hub, app } = service;
      const checks = { hub, clock: app.clock, results: createResultCache(app.clock) };
      return createTrials({ ...app, checks, run: (request) => runCheck(checks, request), ...over });
    },
  };
}

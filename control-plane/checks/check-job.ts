import type { CheckEvent, Location } from "#control-plane/checks/answer.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import type { JobRequest } from "#control-plane/checks/dispatch/job.ts";

/** A call at one location, for the agents there. */
export interface Ask {
  readonly app: CheckContext;
  readonly request: CheckRequest;
  readonly onEvent: ((event: CheckEvent) => void) | undefined;
  /** Returns the location of an agent. */
  readonly where: (agentId: string) => Location;
}

/** Returns the job without its agent and its time. `before` is the number of attempts before it. */
export function jobOf({ request, onEvent, where }: Ask, before: number): Omit<JobRequest, "pick" | "deadlineMs"> {
  const { contract, params } = request;
  return {
    tool: contract.name,
    params: JSON.stringify(params),
    ...(request.input === undefined ? {} : { input: JSON.stringify(request.input) }),
    ...(contract.artifact === undefined ? {} : { wantsArtifact: contract.artifact }),
    accountId: request.accountId,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
    ...(request.onProgressDropped === undefined ? {} : { onProgressDropped: request.onProgressDropped }),
    ...(onEvent === undefined
      ? {}
      : {
          onAccepted: (agentId, attempt) =>
            onEvent({ event: "probe", data: { location: where(agentId), attempt: before + attempt } }),
          onProgress: (agentId, attempt, progress) =>
            onEvent({
              event: "progress",
              data: { location: where(agentId), attempt: before + attempt, ...progress },
            }),
          onRestart: (agentId, attempt, reason) =>
            onEvent({ event: "restart", data: { location: where(agentId), attempt: before + attempt, reason } }),
        }),
  };
}

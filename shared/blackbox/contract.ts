import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";

/** Longest probe of an agent for the control plane, in milliseconds. */
export const LONGEST_PROBE_MS = 60_000;
/** Time for the agent to answer after the end of a probe, in milliseconds. */
const ANSWER_MS = 250;

/**
 * Runs a module of the operator's blackbox.yml. No tool: it is in no catalogue, and the API's /probe alone asks for it.
 * `scope` is that of http; others replace it.
 */
export const blackboxProbe = defineTool({
  name: "blackbox-probe",
  title: "Module of a blackbox.yml",
  summary: "Metrics of a probe with the prober of blackbox_exporter",
  scope: "check",
  toolset: "network",
  // The form of a target depends on the prober: the control plane and the agent decide about its host.
  target: null,
  example: { target: "example.com:22" },
  params: Type.Object({
    options: Type.Unknown({ description: "The module as in the file; a file that it names is sent as its content" }),
    target: Type.String({ maxLength: 8_192, description: "Target as the prober reads it" }),
    hostname: Type.String({ maxLength: 300, description: 'Host of http, name in TLS of tcp; "" for none' }),
    timeout_ms: Type.Integer({ minimum: 1, maximum: LONGEST_PROBE_MS, description: "Time limit, milliseconds" }),
  }),
  result: Type.Object({
    verdict: Type.Enum(["success", "failure"], { description: "Whether the target is as the module expects" }),
    metrics: Type.String({
      maxLength: 250_000,
      // An agent must not add series of ours.
      pattern: "^(?:(?:# (?:HELP|TYPE) )?probe_[^\\n]*\\n)*$",
      description: "Prometheus' text format 0.0.4",
    }),
    elapsed_ms: Type.Integer({ minimum: 0, description: "Duration of the probe in milliseconds" }),
  }),
  deadlineMs: ({ timeout_ms }) => timeout_ms + ANSWER_MS,
});

import { Type, type Static } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { integer, list, number, optional, record, text } from "#shared/tools/shapes.ts";

/** Answer of another agent's resolver to the same question, which the control plane requests. */
export const Vantage = record(
  {
    region: text("Region of the agent"),
    country: Nullable(text("Its country, ISO 3166-1 alpha-2")),
    city: Nullable(text("Its city")),
    server: text("Its resolver, address#port"),
    status: text("NOERROR, NXDOMAIN, SERVFAIL, REFUSED, TIMEOUT, ..."),
    records: list(
      Type.Object({ type: text("RR type"), data: text("RDATA in presentation form"), ttl: integer("Seconds left") }),
      "The answer, including CNAMEs",
    ),
    rtt_ms: Nullable(number("Round trip, milliseconds")),
    ede: optional(
      list(
        Type.Object({ code: integer("Extended DNS Error code (RFC 8914)"), text: text("Text from the resolver") }),
        "Extended DNS Errors: the resolver's reasons; absent if the control plane does not pass them on",
      ),
    ),
  },
  "Answer of one other agent",
);
/** Values of the Vantage schema. */
export type Vantage = Static<typeof Vantage>;

/** Input of a propagation job. */
export const PROPAGATION_INPUT = Type.Object({
  vantages: list(Vantage, "Other agents' answers; empty if there is no other agent"),
});

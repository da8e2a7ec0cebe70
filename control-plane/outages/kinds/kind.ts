import type { TSchema } from "typebox";
import type { FieldProblem, Read } from "#shared/schema/problem.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { CommonDraft, CommonSettings, MonitorSecrets } from "#control-plane/outages/kinds/common.ts";
import type { ExpiringTarget } from "#control-plane/outages/kinds/expiring.ts";

/**
 * A kind of monitor: everything in which it differs from the others. `O` are the options that it alone has, its object in
 * the API; null if it has none. What rooms decide by the kind of a monitor, they decide by one of these facts.
 */
export interface Kind<O = unknown> {
  /** What the dashboard calls it. */
  readonly label: string;
  /** What it watches: its words in the description of check_type. */
  readonly watches: string;
  /** What `url` is; null if nothing is reached by it, and it is a note of the user's own. */
  readonly target: Target | null;
  /** The fields of several kinds that it has beside those of all kinds, and of all kinds that probes check. */
  readonly fields: readonly (keyof CommonDraft)[];
  /** Those of them without which it has nothing to watch, and what they are: the end of the refusal. */
  readonly required: Readonly<Partial<Record<keyof CommonDraft, string>>>;
  /** What the field port is, for its description; null if it has none. */
  readonly portNote: string | null;
  /** Defaults of shared fields that differ from those of other kinds. */
  readonly defaults: Partial<CommonSettings>;
  /** The object of its own that it has in the API, under its name; null: none. */
  readonly options: Options<O> | null;
  /** Checks the rules between its fields, once there is a url. Returns the first problem; null: none. */
  findConflict(draft: CommonDraft, options: O | null): FieldProblem | null;
  /** How probes check it; null: probes do not check it. */
  readonly probe: Probe<O> | null;
  /** How many locations it has. */
  readonly locations: "many" | "one" | "none";
  /** Returns the certificate and the registration that it depends on: at most one of each. */
  expires(
    url: string,
    settings: Pick<CommonSettings, "port" | "watch_domain">,
    options: O | null,
  ): readonly ExpiringTarget[];
  /** What is gathered when an outage begins. */
  readonly evidence: EvidenceFacts;
  /** How its outages are put into words. */
  readonly words: Words;
}

/** The fields of all kinds that probes check. */
export const PROBE_FIELDS = ["timeout_seconds", "locations", "quorum", "retries", "recovery", "degraded_ms"] as const;

/** What `url` is. */
interface Target {
  /** Its label in the dashboard's form. */
  readonly label: string;
  /** What the form says below it. */
  readonly hint: string;
  /** Its form: the words in the description of url. */
  readonly form: string;
  /** Where the port is that causes name: in url, or in the field port. */
  readonly port: "url" | "field";
  /** Returns the part of it that the agents' rules decide on. */
  ruledPart(url: string): string;
}

/** The options that one kind alone has. */
interface Options<O, S extends TSchema = TSchema> {
  /** Schema of the object in a write; null is allowed, and omitted parts keep their values. */
  readonly schema: S;
  /** Fields of the object in responses that a write can send back; they are dropped. */
  readonly readOnly: readonly string[];
  /**
   * The field of the object with ids of other monitors, and the schema of the object in rows of a document, which has a
   * field with names in its place; null if it names none.
   */
  readonly references: { readonly field: string; readonly rowSchema: TSchema } | null;
  /**
   * The field of the object with values by name that are secrets, such as metadata; null: none. Like request headers they
   * are encrypted at rest, masked in responses, left out of documents, and dropped with a change to another origin. `read`
   * takes masks for the stored values (header-fields.ts).
   */
  readonly secretField: string | null;
  /**
   * The fields of the object with a text that is a secret, such as a message to a server. They are kept like the values of
   * secretField; a kind with some has no secretField, and no request header has their names.
   */
  readonly secretTexts: readonly string[];
  /**
   * The rule on texts to ports at which a text can be a whole dialogue, such as a mail: they are sent only to addresses that
   * the operator of an agent allows; null: the kind has none.
   */
  readonly sendRule: SendRule<O> | null;
  /** The fields of the object that say where secrets go, beside the url, such as whether there is TLS. */
  readonly originFields: readonly string[];
  /** Returns the options without a value from the user. */
  defaults(intervalMinutes: number): O;
  /** Applies what a write gives, parsed by the schema, to the present options; null: to none, or with given: resets them. */
  read(given: unknown, present: O | null, defaults: O): Read<O>;
  /** Returns the options after a write that changed `interval_minutes`; `given` are its own parts. */
  follow(options: O, intervalMinutes: number, given: unknown): O;
  /** Reports whether a change of them is a new start: what was known does not apply any more. */
  isNewStart(before: O, after: O): boolean;
}

/** A rule on the text that a monitor sends. */
interface SendRule<O> {
  /** Returns the host to which the options send such a text; null: to none. */
  limitedHost(url: string, options: O): string | null;
  /** Returns the options of a monitor to which the rule applies. One of before that has not changed is left alone. */
  applied(options: O): O;
}

/** How probes check monitors of a kind. */
interface Probe<O> {
  /** The contract that agents are asked with. */
  readonly contract: Contract;
  /** Returns the parameters of the contract but for secrets, time limit and report. Throws if the target cannot be read. */
  params(url: string, settings: CommonSettings, options: O | null): Readonly<Record<string, unknown>>;
  /** Returns the parameters that hold secrets. */
  secretParams(secrets: MonitorSecrets): Readonly<Record<string, unknown>>;
  /** What an agent must be able to do; null: nothing special. */
  readonly capability: "browser" | null;
  /** Whose knowledge decides: the target's answer to each check, or what its registry said last. */
  readonly judgedBy: "target" | "registry";
  /** Returns the time that a check takes beyond its time limit, seconds. */
  extraSeconds(options: O | null): number;
}

/** What is gathered when an outage begins, and what it is compared with. */
interface EvidenceFacts {
  /** looks: what probes see, on which mail waits for some seconds; pings: the newest ones; nothing. */
  readonly gathers: "looks" | "pings" | "nothing";
  /** Whether url is split into host, port and path: outages of one host look alike. Else all of it is the host. */
  readonly splitsUrl: boolean;
  /** Whether the path to the host is traced. */
  readonly isTraced: boolean;
  /** Whether a second location is asked. */
  readonly isAskedElsewhere: boolean;
  /** Whether its check is a TLS handshake, which is not repeated to see the certificate. */
  readonly isHandshake: boolean;
  /** Whether the time of its check is a round trip. */
  readonly isRoundTrip: boolean;
}

/** How outages of a kind are put into words. */
interface Words {
  /** Name of a monitor whose user gives none, where the target has none either. */
  readonly nameless: string;
  /** What a kind that no probe checks does instead: a clause about it; null if it is checked. */
  readonly unchecked: string | null;
  /** Line of the timeline about the first bad observation of an outage. */
  readonly opened: string;
  /** Line of the timeline about the first good observation after it. */
  readonly recovered: string;
  /** Words for a fault that has none. Faults of a kind with such words are whole clauses, and name no place. */
  readonly unexplained: string | null;
  /** Causes by "stage reason" of the fault that differ from those of other kinds. */
  readonly causes: Readonly<Record<string, CauseWords>>;
}

/** A cause of outages. */
interface CauseWords {
  /** A stable snake_case word. */
  readonly code: string;
  /** Beginning of a clause, in lower case but for abbreviations. */
  readonly headline: string;
  /** Part of the fault that follows the locations. */
  readonly shows: "port" | "words" | "nothing";
  /** Whether the words differ between locations and checks, so that they do not make two causes. Absent: false. */
  readonly isMeasured?: boolean;
}

/** The facts of a kind that probes check as long as it says nothing else. */
export const PROBED = {
  fields: [],
  required: {},
  portNote: null,
  defaults: {},
  options: null,
  findConflict: () => null,
  locations: "many",
  expires: () => [],
  evidence: {
    gathers: "looks",
    splitsUrl: false,
    isTraced: true,
    isAskedElsewhere: true,
    isHandshake: false,
    isRoundTrip: false,
  },
  words: {
    nameless: "monitor",
    unchecked: null,
    opened: "First failing check",
    recovered: "First good check",
    unexplained: null,
    causes: {},
  },
} as const satisfies Partial<Kind<null>>;

/** How probes check a kind as long as it says nothing else. */
export const PROBE = {
  secretParams: () => ({}),
  capability: null,
  judgedBy: "target",
  extraSeconds: () => 0,
} as const satisfies Partial<Probe<null>>;

/** What options do as long as their kind says nothing else. */
export const OPTIONS = {
  readOnly: [],
  references: null,
  secretField: null,
  secretTexts: [],
  sendRule: null,
  originFields: [],
  follow: <O>(options: O) => options,
  isNewStart: () => false,
} as const satisfies Partial<Options<unknown>>;

/** A target that is a URL; of a host alone it is the address of its web site. */
export const URL_TARGET: Target = {
  label: "Address",
  hint: "Such as https://example.com/health",
  form: "a URL; example.org means https://example.org",
  port: "url",
  ruledPart: (url) => url,
};
/** A target that is a host name or an address. */
export const HOST_TARGET: Target = {
  label: "Host",
  hint: "A name or an IP address",
  form: "a host name or IP address",
  port: "field",
  ruledPart: (url) => url,
};
/** A target that is a domain name. */
export const DOMAIN_TARGET: Target = {
  ...HOST_TARGET,
  label: "Domain",
  hint: "Such as example.com",
  form: "a domain name",
};

/** Returns the problem of a field. */
export function problem(field: string, reason: FieldProblem["reason"], message: string): FieldProblem {
  return { field, reason, message };
}

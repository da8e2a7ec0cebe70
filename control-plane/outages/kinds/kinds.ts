import type { Contract } from "#shared/tools/define.ts";
import { composite } from "#control-plane/outages/kinds/composite.ts";
import { dns } from "#control-plane/outages/kinds/dns.ts";
import { domain } from "#control-plane/outages/kinds/domain.ts";
import { grpc } from "#control-plane/outages/kinds/grpc.ts";
import { heartbeat } from "#control-plane/outages/kinds/heartbeat.ts";
import { http } from "#control-plane/outages/kinds/http.ts";
import { keyword } from "#control-plane/outages/kinds/keyword.ts";
import { HOST_TARGET, PROBED, type Kind } from "#control-plane/outages/kinds/kind.ts";
import { ping } from "#control-plane/outages/kinds/ping.ts";
import { port } from "#control-plane/outages/kinds/port.ts";
import { ssl } from "#control-plane/outages/kinds/ssl.ts";
import { tcp } from "#control-plane/outages/kinds/tcp.ts";
import { visual } from "#control-plane/outages/kinds/visual.ts";
import { websocket } from "#control-plane/outages/kinds/websocket.ts";

/** Every kind of monitor by its check_type, in the order of the documentation. */
const KINDS = { http, keyword, ssl, domain, dns, ping, port, tcp, grpc, websocket, visual, heartbeat, composite };

/** Everything that a monitor can watch. */
export type CheckType = keyof typeof KINDS;

/** What probes check. */
export type ProbedType = { [K in CheckType]: (typeof KINDS)[K]["probe"] extends null ? never : K }[CheckType];

/** The kinds with options that they alone have. */
type OptionName = { [K in CheckType]: (typeof KINDS)[K]["options"] extends null ? never : K }[CheckType];

/** The options of each kind under its name; null for other kinds. */
export type KindOptions = {
  readonly [K in OptionName]: NonNullable<(typeof KINDS)[K]["options"]> extends { defaults(minutes: number): infer O }
    ? O | null
    : never;
};

/** Every check_type, in the order of the documentation. */
export const CHECK_TYPES = Object.keys(KINDS) as readonly CheckType[];

/** The kinds with options that they alone have, in this order too. */
export const OPTION_NAMES = CHECK_TYPES.filter((name) => kindOf(name).options !== null) as readonly OptionName[];

/** Reports whether this is the name of a kind with options that it alone has, and so of their field. */
export function hasOptions(name: string): name is OptionName {
  return (OPTION_NAMES as readonly string[]).includes(name);
}

/** Schemas of the options that kinds alone have, by their names. */
export const OPTION_SCHEMAS = Object.fromEntries(
  OPTION_NAMES.map((name) => [name, kindOf(name).options?.schema]),
) as unknown as { readonly [K in OptionName]: NonNullable<(typeof KINDS)[K]["options"]>["schema"] };

/** The kinds that no probe checks. */
export const UNPROBED_TYPES: readonly CheckType[] = CHECK_TYPES.filter((name) => kindOf(name).probe === null);

/** Returns a kind by its check_type. Of one that this release does not know, nothing special is known. */
export function kindOf(checkType: string): Kind {
  return Object.hasOwn(KINDS, checkType) ? KINDS[checkType as CheckType] : UNKNOWN;
}

const UNKNOWN: Kind = { ...PROBED, label: "", watches: "", target: HOST_TARGET, probe: null };

/** Reports whether probes check monitors of a type. */
export function isProbed(checkType: CheckType): checkType is ProbedType {
  return KINDS[checkType].probe !== null;
}

/** Returns how probes check monitors of a type. */
export function probeOf(checkType: ProbedType): NonNullable<Kind["probe"]> {
  return KINDS[checkType].probe;
}

/** Returns the contract by which agents check monitors of a type. */
export function contractOf(checkType: ProbedType): Contract {
  return probeOf(checkType).contract;
}

/** Returns the ids of the monitors that a monitor's options name. */
export function referencesOf(checkType: CheckType, settings: KindOptions): readonly number[] {
  const references = kindOf(checkType).options?.references ?? null;
  const options = optionsOf(checkType, settings) as Readonly<Record<string, unknown>> | null;
  return references === null ? [] : ((options?.[references.field] ?? []) as readonly number[]);
}

/** Returns the options that a monitor alone has by its kind; null: none. */
export function optionsOf(checkType: CheckType, settings: KindOptions): unknown {
  // The fields keyword and port have names of kinds too.
  return hasOptions(checkType) ? settings[checkType] : null;
}

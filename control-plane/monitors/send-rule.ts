import { classifyAddress, type Egress } from "#shared/internet/egress.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import type { Warning } from "#control-plane/http/warnings.ts";
import { refuseWrite, type Written } from "#control-plane/http/written.ts";
import { kindOf, optionsOf, type CheckType, type KindOptions } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { secretPlacesOf, valuesAt } from "#control-plane/outages/kinds/secrets.ts";

type Sender = KindOptions & Pick<MonitorDraft, "check_type" | "url">;

/** Whether agents may send the text of a monitor. */
interface SendVerdict {
  /** The monitor, with the rule that its checks follow. */
  readonly draft: MonitorDraft;
  /** Reports whether an agent with these egress rules can send the text. It decides itself on the addresses of a name. */
  allows(egress: Egress): boolean;
}

const REFUSED =
  "Own text is sent to ports of mail, news and files (21, 24, 25, 110, 119, 143, 366, 465, 587, 993, 995, 2525, 2526) only " +
  "within the ranges that the operator of a probe allows (VANTAGE_ALLOW_TARGETS). Remove it, or use tcp.preset.";

/**
 * Decides on the text of a monitor whose target or text is new; `present` null: all of it is. `agents` holds the rules of
 * those that can check it.
 */
export function vetSend(
  present: MonitorDraft | null,
  draft: MonitorDraft,
  agents: readonly Egress[],
): Written<SendVerdict> {
  const rule = kindOf(draft.check_type).options?.sendRule ?? null;
  const everyone = { draft, allows: () => true };
  if (rule === null || (present !== null && isSame(present, draft))) return { ok: true, value: everyone };
  const limited = { ...draft, [draft.check_type]: rule.applied(optionsOf(draft.check_type, draft)) };
  const host = limitedHost(draft);
  if (host === null) return { ok: true, value: { ...everyone, draft: limited } };
  const allows = (egress: Egress): boolean => {
    const check = egress.checkHost(host, { connects: true });
    return check.ok && (check.literal ? egress.lists(check.host) : egress.hasRanges);
  };
  if (agents.some(allows)) return { ok: true, value: { draft: limited, allows } };
  return refuseWrite({ code: "target_not_allowed", field: sentField(draft), message: REFUSED });
}

function isSame(before: MonitorDraft, after: MonitorDraft): boolean {
  const [one, other] = [before, after].map(({ check_type: type, url, ...options }) =>
    JSON.stringify([type, url, secretPlacesOf(type).map((place) => valuesAt(options, place))]),
  );
  return one === other;
}

function limitedHost(sender: Sender): string | null {
  const { check_type: type, url } = sender;
  const options = optionsOf(type, sender);
  return options === null ? null : (kindOf(type).options?.sendRule?.limitedHost(url, options) ?? null);
}

/** Returns the dotted name of the text that a monitor sends, such as `tcp.send`. */
function sentField(sender: Sender): string {
  const { check_type: type } = sender;
  const places = secretPlacesOf(type).filter(({ isText }) => isText);
  const sent = places.find((place) => Object.keys(valuesAt(sender, place) ?? {}).length > 0);
  return `${type}.${sent?.field ?? "send"}`;
}

/** Warns of the text of a monitor of an earlier release, to which the rule does not apply until it is edited. */
export function warnOfSend(sender: Sender): readonly Warning[] {
  const type: CheckType = sender.check_type;
  const host = limitedHost(sender);
  const options = optionsOf(type, sender);
  const rule = kindOf(type).options?.sendRule ?? null;
  const isApplied = rule === null || JSON.stringify(rule.applied(options)) === JSON.stringify(options);
  // An address that is not public has been allowed by an operator.
  const isListed = host !== null && literalFamily(host) !== null && classifyAddress(host) === "refused";
  if (host === null || isApplied || isListed) return [];
  const message = `${REFUSED} This monitor of an earlier release goes on until its url or send is changed.`;
  return [{ parameter: sentField(sender), message, did_you_mean: null }];
}

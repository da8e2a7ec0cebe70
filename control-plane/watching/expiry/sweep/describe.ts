import {
  toExpiryEvent,
  type EventCertificate,
  type EventDomain,
  type ExpiryEventData,
} from "#control-plane/notify/events/expiry-event.ts";
import { toMonitorEvent } from "#control-plane/notify/events/monitor-event.ts";
import type { NewEvent } from "#control-plane/notify/events/event.ts";
import {
  describeOldTls,
  sentCertificates,
  type CertificateFacts,
  type SentCertificate,
} from "#control-plane/watching/expiry/observed/certificate.ts";
import type { RegistrationFacts } from "#control-plane/watching/expiry/observed/registration.ts";
import { splitTarget } from "#control-plane/watching/expiry/links/targets.ts";
import type { CertificateNotice } from "#control-plane/watching/expiry/notices/decide-certificate.ts";
import type { RegistrationNotice } from "#control-plane/watching/expiry/notices/decide-registration.ts";
import { daysLeft } from "#control-plane/watching/expiry/notices/thresholds.ts";
import type { InformedMonitor } from "#control-plane/watching/expiry/sweep/store.ts";

/** Describes a notice about a certificate as an event. */
export function certificateEvent(
  monitor: InformedMonitor,
  notice: CertificateNotice,
  { target, facts }: { readonly target: string; readonly facts: CertificateFacts },
  now: number,
): NewEvent {
  if (notice.type === "monitor.advisory") return advisoryEvent(monitor, facts, now);
  if (notice.type === "ssl.chain_changed") {
    const [leaf] = sentCertificates(facts);
    return toEvent(monitor, notice.type, now, {
      certificate: showCertificate(target, leaf),
      ...describeChange(notice, facts),
      days_left: daysLeft(Date.parse(facts.notAfter), now),
      threshold: null,
    });
  }
  return toEvent(monitor, notice.type, now, {
    certificate: showCertificate(target, notice.certificate),
    days_left: notice.daysLeft,
    threshold: notice.type === "ssl.expiring" ? notice.threshold : null,
  });
}

function advisoryEvent(informed: InformedMonitor, facts: CertificateFacts, now: number): NewEvent {
  const { id, accountId, name, url, checkType, isMailed, isAdvised } = informed;
  const old = describeOldTls(facts) ?? { since: new Date(now), message: "" };
  const event = toMonitorEvent({
    kind: "advisory",
    accountId,
    monitor: { id, name, url, check_type: checkType },
    at: now,
    previous: "up",
    startedAt: null,
    recoveredAt: null,
    incidentId: null,
    cause: { code: "old_tls", message: old.message },
    failing: [],
    responseMs: null,
    isFlapping: false,
    advisory: { ...old, locations: [] },
  });
  return isMailed && isAdvised ? { ...event, mailTo: addressesOf(informed) } : event;
}

/** Describes a notice about a registration as an event. */
export function registrationEvent(
  monitor: InformedMonitor,
  notice: RegistrationNotice,
  { target, facts }: { readonly target: string; readonly facts: RegistrationFacts },
  now: number,
): NewEvent {
  const domain: EventDomain = {
    name: target,
    registrar: facts.registrar,
    expires_at: facts.expires,
    status: facts.status,
  };
  const isExpired = notice.type === "domain.expired";
  return toEvent(monitor, notice.type, now, {
    domain,
    ...(isExpired ? { cause: { code: notice.reason, message: notice.message } } : {}),
    days_left: notice.daysLeft,
    threshold: isExpired ? null : notice.threshold,
  });
}

function toEvent(
  informed: InformedMonitor,
  type: Exclude<(CertificateNotice | RegistrationNotice)["type"], "monitor.advisory">,
  now: number,
  data: Omit<ExpiryEventData, "monitor">,
): NewEvent {
  const { id, accountId, name, url, checkType, isMailed } = informed;
  const monitor = { id, name, url, check_type: checkType };
  const event = toExpiryEvent(type, { accountId, createdAt: new Date(now), data: { monitor, ...data } });
  return isMailed ? { ...event, mailTo: addressesOf(informed) } : event;
}

function addressesOf({ emails }: InformedMonitor): readonly string[] | null {
  return emails === null ? null : (JSON.parse(emails) as readonly string[]);
}

function showCertificate(target: string, certificate: SentCertificate): EventCertificate {
  return {
    ...splitTarget(target),
    role: certificate.role,
    subject: certificate.subject,
    issuer: certificate.issuer,
    fingerprint_sha256: certificate.fingerprint,
    not_before: certificate.notBefore,
    not_after: certificate.notAfter,
  };
}

function describeChange(
  { previous, isRenewal }: Extract<CertificateNotice, { type: "ssl.chain_changed" }>,
  facts: CertificateFacts,
): Pick<ExpiryEventData, "previous" | "changed" | "looks_like_renewal"> {
  const known = previous.facts;
  return {
    previous: {
      issuer: known?.issuer ?? null,
      fingerprint_sha256: previous.fingerprint,
      not_after: known?.notAfter ?? null,
    },
    changed: known !== null && known.issuer !== facts.issuer ? ["issuer", "fingerprint"] : ["fingerprint"],
    looks_like_renewal: isRenewal,
  };
}

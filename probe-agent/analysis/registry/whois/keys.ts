/** Splits a comma-separated list of normalized keys as registries write them. Earlier keys are more certain. */
function keys(text: string): readonly string[] {
  return text.split(",").map((key) => key.trim());
}

/** Names of the fields of a registration. */
export const KEYS = {
  domain: keys(
    "domain name, domain, domainname, nom de domaine, domaine, ドメイン名, 도메인이름, dominio, nombre de dominio",
  ),
  created: keys(
    `creation date, created, created on, created date, creation time, registered, registered on, registered date,
     registration date, registration time, domain registration date, record created, record created on, domain created,
     domain create date, domain creation date, domain record activated, activated on, first registration date, commencement date,
     domain name commencement date, domain dateregistered, registration, assigned, fecha de registro,
     fecha de creacion, 登録年月日, 등록일`,
  ),
  updated: keys(
    `updated date, updated, updated on, last updated, last updated on, last updated date, last update, last modified,
     modified, changed, modified date, modification date, last modification date, domain last updated date,
     domain record last updated, record last updated on, update date, domain datelastmodified, last edited on,
     最終更新, 최근 정보 변경일`,
  ),
  expires: keys(
    `registry expiry date, expiration date, expiry date, expires, expires on, expire, expire date,
     registrar registration expiration date, expiration, expiration time, expiry, exp date, paid till, renewal date,
     domain expires, domain expiration date, record expires on, expires at, expired, record expired, valid until, validity, domain datebilleduntil,
     fecha de vencimiento, 有効期限, 사용 종료일`,
  ),
  status: keys("domain status, status, registration status, eppstatus, epp status, 状態"),
  registryId: keys("registry domain id, domain id, roid"),
  referral: keys("registrar whois server, whois server, refer, referralserver, referral server, whois"),
  registrarName: keys(
    `registrar name, sponsoring registrar, sponsoring registrar organization, sponsoring registrar name,
     registrar organization, authorized agency`,
  ),
  registrar: keys(
    `registrar, registrar company, registration service provider, current registrar, current registar,
     registered through, registrar handle, 등록대행자`,
  ),
  company: keys("organization, organisation, organization name, organisation name, org"),
  holder: keys("registrant, registrant name, owner, holder, holder of domain name, domain holder"),
} as const;

/** The seven continents by their names in the API. */
export const CONTINENTS = [
  "africa",
  "antarctica",
  "asia",
  "europe",
  "north-america",
  "oceania",
  "south-america",
] as const;
/** One of the seven continents. */
export type Continent = (typeof CONTINENTS)[number];

/**
 * ISO 3166-1 alpha-2 codes by continent. Countries on two continents are assigned as in GeoNames (Russia and Cyprus to
 * Europe, Turkey and the Caucasus to Asia). XK is the usual code for Kosovo.
 */
const COUNTRIES: Readonly<Record<Continent, string>> = {
  africa:
    "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW",
  antarctica: "AQ BV GS HM TF",
  asia: "AE AF AM AZ BD BH BN BT CC CN GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TM TR TW UZ VN YE",
  europe:
    "AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK",
  "north-america":
    "AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC TT US VC VG VI",
  oceania: "AS AU CK CX FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TL TO TV UM VU WF WS",
  "south-america": "AR BO BR CL CO EC FK GF GY PE PY SR UY VE",
};

const BY_COUNTRY: ReadonlyMap<string, Continent> = new Map(
  CONTINENTS.flatMap((continent) => COUNTRIES[continent].split(" ").map((country) => [country, continent] as const)),
);

/** Returns the continent of a country by its upper-case ISO 3166-1 alpha-2 code; null for an unknown code. */
export function continentOf(country: string): Continent | null {
  return BY_COUNTRY.get(country) ?? null;
}

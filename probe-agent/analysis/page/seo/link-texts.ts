import { withoutTrailing } from "#shared/text/strip-trailing.ts";

/**
 * Link texts that do not describe the target, by language. They are the texts of Lighthouse's audit "link-text" in the
 * most common languages of web pages, and similar texts in French, Italian, Dutch, Polish, Russian and Chinese.
 */
const TEXTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    en: "click here|click this|go|here|information|learn more|more|more info|more information|right here|read more|see more|start|this",
    de: "klicke hier|hier klicken|klicken sie hier|hier|mehr|siehe|dies|das|weiterlesen|mehr erfahren|mehr lesen",
    es: "click aquí|click aqui|clicka aquí|clicka aqui|pincha aquí|pincha aqui|aquí|aqui|más|mas|más información|más informacion|mas información|mas informacion|este|enlace|este enlace|empezar|leer más",
    fr: "cliquez ici|cliquer ici|ici|plus|en savoir plus|lire la suite|voir plus|plus d'infos|suite",
    it: "clicca qui|qui|di più|scopri di più|leggi di più|leggi tutto|continua",
    ja: "ここをクリック|こちらをクリック|こちら|リンク|続きを読む|続く|全文表示|詳しくはこちら",
    ko: "여기|여기를 클릭|클릭|링크|자세히|자세히 보기|계속|이동|전체 보기",
    nl: "klik hier|hier|meer|lees meer|meer info|meer informatie|lees verder",
    pl: "kliknij tutaj|tutaj|więcej|czytaj więcej|dowiedz się więcej",
    pt: "clique aqui|aqui|ir|mais informação|mais informações|mais|veja mais|saiba mais|leia mais",
    ru: "здесь|тут|нажмите здесь|подробнее|далее|читать далее|ещё",
    sv: "här|klicka här|läs mer|mer|mer info|mer information",
    zh: "点击这里|這裡|这里|点此|更多|详情|了解更多|閱讀更多|阅读更多",
  }).map(([language, texts]) => [language, new Set(texts.split("|"))]),
);

function isEndMark(character: string): boolean {
  return character.trim() === "" || ".…»›>→:!".includes(character);
}

/**
 * Reports whether a link text is generic, such as "click here". `language` is the page's language in lower case. null,
 * and a language without a table, try all languages.
 */
export function isNonDescriptive(text: string, language: string | null): boolean {
  const normalized = withoutTrailing(text.toLowerCase(), isEndMark);
  // An address does not describe the target either.
  if (/^https?:\/\/\S+$/.test(normalized)) return true;
  const forLanguage = language === null ? undefined : TEXTS.get(language);
  if (forLanguage !== undefined) return forLanguage.has(normalized) || (TEXTS.get("en")?.has(normalized) ?? false);
  return [...TEXTS.values()].some((texts) => texts.has(normalized));
}

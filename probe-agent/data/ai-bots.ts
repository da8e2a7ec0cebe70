import { readFileSync } from "node:fs";
import type { AiBot } from "#probe-agent/analysis/web/robots/ai-bot.ts";
import type { Opened } from "#probe-agent/data/opened.ts";

/**
 * Product tokens from the operators' own documentation, with the purpose stated there (read in 2026-11): OpenAI,
 * Anthropic, Google, Microsoft, Apple, Meta, Amazon, Common Crawl, Perplexity, Mistral, ByteDance, Cohere, DuckDuckGo,
 * You.com, Allen Institute for AI, Diffbot, Huawei, Timpi, Webz.io, Bright Data, Kagi.
 */
const BUILT_IN: readonly AiBot[] = [
  { name: "GPTBot", operator: "OpenAI", purpose: "train" },
  { name: "OAI-SearchBot", operator: "OpenAI", purpose: "search" },
  { name: "ChatGPT-User", operator: "OpenAI", purpose: "assistant" },
  { name: "ClaudeBot", operator: "Anthropic", purpose: "train" },
  { name: "Claude-SearchBot", operator: "Anthropic", purpose: "search" },
  { name: "Claude-User", operator: "Anthropic", purpose: "assistant" },
  { name: "Google-Extended", operator: "Google", purpose: "train" },
  { name: "Google-CloudVertexBot", operator: "Google", purpose: "agent" },
  { name: "Gemini-Deep-Research", operator: "Google", purpose: "assistant" },
  { name: "Applebot-Extended", operator: "Apple", purpose: "train" },
  { name: "Applebot", operator: "Apple", purpose: "search" },
  { name: "meta-externalagent", operator: "Meta", purpose: "train" },
  { name: "meta-externalfetcher", operator: "Meta", purpose: "assistant" },
  { name: "FacebookBot", operator: "Meta", purpose: "train" },
  { name: "Amazonbot", operator: "Amazon", purpose: "train" },
  { name: "bedrockbot", operator: "Amazon", purpose: "agent" },
  { name: "CCBot", operator: "Common Crawl", purpose: "train" },
  { name: "PerplexityBot", operator: "Perplexity", purpose: "search" },
  { name: "Perplexity-User", operator: "Perplexity", purpose: "assistant" },
  { name: "MistralAI-User", operator: "Mistral AI", purpose: "assistant" },
  { name: "Bytespider", operator: "ByteDance", purpose: "train" },
  { name: "cohere-ai", operator: "Cohere", purpose: "assistant" },
  { name: "cohere-training-data-crawler", operator: "Cohere", purpose: "train" },
  { name: "DuckAssistBot", operator: "DuckDuckGo", purpose: "assistant" },
  { name: "YouBot", operator: "You.com", purpose: "search" },
  { name: "Ai2Bot", operator: "Allen Institute for AI", purpose: "train" },
  { name: "Diffbot", operator: "Diffbot", purpose: "agent" },
  { name: "PanguBot", operator: "Huawei", purpose: "train" },
  { name: "Timpibot", operator: "Timpi", purpose: "train" },
  { name: "omgili", operator: "Webz.io", purpose: "train" },
];

const MOST_BOTS = 500;

/**
 * Reads the operator's list (ai-robots-txt's robots.json: an object of product tokens), or returns the built-in list.
 */
export function openAiBots(path: string | null): Opened<readonly AiBot[]> {
  if (path === null) return { ok: true, data: BUILT_IN };
  try {
    const bots = readBots(JSON.parse(readFileSync(path, "utf8")));
    if (bots !== null) return { ok: true, data: bots };
    return { ok: false, line: `VANTAGE_AI_BOTS_FILE ${path}: not a JSON object of user agents` };
  } catch (error) {
    return { ok: false, line: `VANTAGE_AI_BOTS_FILE: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function readBots(value: unknown): readonly AiBot[] | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const bots = Object.entries(value)
    .slice(0, MOST_BOTS)
    .filter(([name]) => /^[\w .+-]{1,64}$/.test(name))
    .map(([name, about]) => readBot(name, about));
  return bots.length === 0 ? null : bots;
}

function readBot(name: string, about: unknown): AiBot {
  const known = BUILT_IN.find((bot) => bot.name.toLowerCase() === name.toLowerCase());
  const fields = typeof about === "object" && about !== null ? (about as Record<string, unknown>) : {};
  const operator = typeof fields["operator"] === "string" ? plainName(fields["operator"]) : (known?.operator ?? "");
  const purpose = typeof fields["function"] === "string" ? parsePurpose(fields["function"]) : null;
  return { name, operator, purpose: known?.purpose ?? purpose ?? "train" };
}

/** Returns an operator's name without its link: the list has Markdown links. */
function plainName(text: string): string {
  return (/^\[([^\]]{1,100})\]/.exec(text)?.[1] ?? text).slice(0, 100);
}

function parsePurpose(text: string): AiBot["purpose"] | null {
  if (/train|dataset|scrap/i.test(text)) return "train";
  if (/agent/i.test(text)) return "agent";
  if (/assist|user|prompt/i.test(text)) return "assistant";
  return /search|index/i.test(text) ? "search" : null;
}

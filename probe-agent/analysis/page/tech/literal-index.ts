/** Number of leading characters searched for. More would make the automaton larger and exclude few more texts. */
const MAX_LENGTH = 16;
/** Maximum number of states of the automaton, about 3 MB. Texts beyond it are not searched for. */
const MAX_STATES = 30_000;
const ASCII = 128;

/**
 * Finds which of many texts occur in an input, ignoring ASCII case. Reads the input once, regardless of the number of
 * texts (Aho and Corasick, Communications of the ACM 18(6), 1975).
 */
export class LiteralIndex {
  readonly #ids = new Map<string, number>();
  /**
   * Class of each ASCII character. 0 for characters that occur in no text; all non-ASCII characters are class 0 too.
   */
  readonly #classes = new Uint8Array(ASCII);
  readonly #width: number;
  readonly #next: Uint16Array;
  /**
   * For each state, the first state on its fallback path, including itself, at which a text ends. 0 if there is none.
   */
  readonly #first: Uint16Array;
  /** For each state, the number, from 1, of the text that ends there. 0 if none does. */
  readonly #ends: Uint16Array;
  /** For each state, the next state on its fallback path at which another text ends. 0 if there is none. */
  readonly #more: Uint16Array;

  /** Expects texts in lower case. */
  constructor(texts: Iterable<string>) {
    const wanted = [...new Set([...texts].map(cut))].filter((text) => text !== "");
    let classes = 0;
    for (const code of wanted.flatMap((text) => Array.from(text, (one) => one.charCodeAt(0)))) {
      if (code < ASCII && this.#classes[code] === 0) this.#classes[code] = ++classes;
    }
    for (let code = 0x41; code <= 0x5a; code += 1) this.#classes[code] = this.#classes[code + 0x20] ?? 0;
    this.#width = classes + 1;
    const room = Math.min(
      MAX_STATES,
      wanted.reduce((sum, text) => sum + text.length, 1),
    );
    this.#next = new Uint16Array(room * this.#width);
    this.#first = new Uint16Array(room);
    this.#ends = new Uint16Array(room);
    this.#more = new Uint16Array(room);
    this.#linkStates(this.#buildTree(wanted, room));
  }

  /** Reports whether the index searches for a text. */
  includes(text: string): boolean {
    return this.#ids.has(cut(text));
  }

  /**
   * Searches the inputs. The returned function reports whether a text occurs in any of them; call it only with texts
   * for which `includes` returns true.
   */
  search(searched: readonly string[]): (text: string) => boolean {
    const found = new Uint8Array(this.#ids.size + 1);
    for (const text of searched) this.#scan(text, found);
    return (text) => found[this.#ids.get(cut(text)) ?? 0] === 1;
  }

  #scan(text: string, found: Uint8Array): void {
    const next = this.#next;
    const classes = this.#classes;
    const ends = this.#ends;
    const more = this.#more;
    const first = this.#first;
    const width = this.#width;
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      state = code < ASCII ? (next[state * width + (classes[code] as number)] as number) : 0;
      if (first[state] !== 0) {
        for (let end = first[state] as number; end !== 0; end = more[end] as number) found[ends[end] as number] = 1;
      }
    }
  }

  /** Builds the tree of the texts and returns the number of its states. */
  #buildTree(texts: readonly string[], room: number): number {
    let states = 1;
    for (const text of texts) {
      const steps = Array.from(text, (one) => (one < "\u0080" ? (this.#classes[one.charCodeAt(0)] ?? 0) : 0));
      if (steps.includes(0) || states + steps.length > room) continue;
      let state = 0;
      for (const step of steps) {
        const place = state * this.#width + step;
        if (this.#next[place] === 0) this.#next[place] = states++;
        state = this.#next[place] ?? 0;
      }
      this.#ids.set(text, this.#ids.size + 1);
      this.#ends[state] = this.#ids.size;
    }
    return states;
  }

  /** Adds the transitions to the longest other text that matches, for steps that continue no text. */
  #linkStates(states: number): void {
    const fallback = new Uint16Array(states);
    const queue: number[] = [0];
    for (const state of queue) {
      this.#first[state] = this.#ends[state] === 0 ? (this.#more[state] ?? 0) : state;
      const other = fallback[state] ?? 0;
      for (let step = 1; step < this.#width; step += 1) {
        const place = state * this.#width + step;
        const matched = state === 0 ? 0 : (this.#next[other * this.#width + step] ?? 0);
        const child = this.#next[place] ?? 0;
        if (child === 0) this.#next[place] = matched;
        else {
          fallback[child] = matched;
          this.#more[child] = this.#ends[matched] === 0 ? (this.#more[matched] ?? 0) : matched;
          queue.push(child);
        }
      }
    }
  }
}

function cut(text: string): string {
  return text.slice(0, MAX_LENGTH);
}

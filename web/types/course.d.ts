// The lab's JSON: the guarantee matrix, the course, the figures measured for it, and traces.
declare namespace Json {
  /** A rule that is broken, and the counterexample's file; one file may break several. */
  interface Finding {
    rule?: string;
    text?: string;
    example?: string;
  }

  interface Cell {
    answer: string;
    text?: string;
    rule?: string;
    also?: Finding[]; // the other rules that are broken
    schedules?: number; // schedules that were run
    random?: number;
    orders?: number; // in which conflicting commands came
    exhausted?: boolean; // there is no other schedule
    preemptions?: number; // -1: no bound that could be told
    cut?: number; // turns not taken
    pruned?: number; // schedules left off, as others are the same
    example?: string;
  }

  interface Question {
    id: string;
    title: string;
    asks: string;
    choosing?: boolean;
  }

  interface Row {
    strategy: string;
    title: string;
    cells: Record<string, Cell>;
  }

  interface Matrix {
    questions: Question[];
    rows: Row[];
    backends: Backend[];
    seed: number;
    schedules: number; // at most, of one search; 0: all
  }

  /** What seckill chaos came to, in short: times of courses are tenths of a second. */
  interface Chaos {
    command: string;
    repeat: string; // of one cell; STRATEGY and FAULT stand for its own
    begun: string;
    machine: string;
    servers: string[];
    settings: Record<string, any>;
    left?: number;
    faults: string[];
    rows: ChaosRow[];
  }

  interface ChaosRow {
    strategy: string;
    cells: (ChaosCell | null)[]; // in the order of the faults; null: not run
  }

  interface ChaosCell {
    word?: string;
    wrong?: boolean;
    may?: boolean;
    rules?: string[];
    said?: string;
    units?: number[]; // told sold, unknown, at first, left after the first part, in the ledger
    after?: number;
    stood?: number; // seconds
    fault?: number[];
    course?: number[][]; // when, sold, without an answer
  }

  interface Chapter {
    name: string;
    title: Record<string, string>;
    text: Record<string, string>;
    core: boolean;
    strategies: string[];
    break: { strategy: string; stock?: number; buyers?: number; question?: string; held?: string };
  }

  /** Of rounds: the median, the lowest, the highest. */
  type Rounds = [median: number, low: number, high: number];

  interface Measurement {
    command: string;
    begun: string;
    os: string;
    cpus: number;
    servers: string[];
  }

  interface Sweep {
    ms: number;
    locks_per_second: Rounds;
    p99_ms: Rounds;
    commands: Rounds;
    lost_percent: Rounds;
  }

  interface SalesFigures extends Measurement {
    at_once: number;
    relative_to?: string; // that the factors are to
    strategies: Record<string, { verdict: Verdict; answers_per_second?: Rounds; sales_per_second?: Rounds; bought_p99_ms?: Rounds; factor?: Rounds }>;
  }

  interface Figures {
    'flash-sale'?: SalesFigures;
    'hot-row'?: SalesFigures;
    'many-skus'?: SalesFigures;
    'few-buyers'?: SalesFigures;
    locks?: Measurement & { hold_ms: number; locks: Record<string, Record<string, Record<'locks_per_second' | 'p99_ms' | 'commands', Rounds>>> };
    articles?: Measurement & { lock: string; task_ms: number; central_over_segmented: Rounds; polls: Sweep[]; leases: Sweep[] };
  }

  /** POST /api/lab/v1/traces: purchases of this moment; times are in microseconds. */
  interface Trace {
    strategy: string;
    stock: number;
    buyers: { name: string; process: number }[];
    before: { name: string; value: string }[] | null;
    after: { name: string; value: string }[] | null;
    id: string;
    started: string;
    steps: { who: string; backend: string; command: string; result?: string; reply?: string; start_us: number; took_us: number; background?: boolean }[] | null;
    held: { who: string; from_us: number; to_us: number }[] | null;
    told: { who: string; answer: string }[];
    problems: { rule: string; message: string }[];
    cut: boolean;
  }
}

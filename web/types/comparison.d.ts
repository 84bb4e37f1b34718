// The lab's JSON: comparisons and their results.
declare namespace Json {
  interface ComparisonSettings {
    strategies: string[];
    stock: number;
    buyers: number;
    concurrency: number;
    quantity: number;
    repeats: number;
    turn_ms: number;
    few: number;
    crowds?: number[]; // further numbers of buyers at a time
    seed: string;
  }

  /** How a strategy does so far. */
  interface Standing {
    strategy: string;
    concurrency: number;
    rounds: number;
    verdict: Verdict | '';
    breaks: boolean;
    expected: boolean;
    sales_per_second: number;
    p99_ms: number;
    rates?: number[]; // of each round
    not_run?: string;
  }

  interface Comparison {
    id: string;
    settings: ComparisonSettings;
    command: string;
    state: RunState | 'removed';
    stopped: boolean;
    started: string;
    done: number;
    total: number;
    step: string; // in English,
    turn?: { strategy?: string; concurrency?: number; baseline?: string }; // and by name
    standings?: Standing[];
    seconds: number;
    not_kept?: string;
    verdicts?: { held: number; caught: number; other: number; not_run: number };
    result?: ComparisonResult;
  }

  /** GET /api/lab/v1/comparisons */
  interface Comparisons {
    comparisons: Comparison[];
    limits: Record<string, number>;
    defaults: Omit<ComparisonSettings, 'strategies' | 'crowds' | 'seed'>;
    history: { folder: string; most: number; skipped: string[] | null };
  }

  interface Spread {
    median: number;
    low: number;
    high: number;
  }

  interface Entry {
    strategy: string;
    title: string;
    family: string;
    breaks: boolean;
    concurrency: number;
    verdict: Verdict;
    expected: boolean;
    sales_per_second: Spread;
    requests_per_second: Spread;
    p50_ms: Spread;
    p99_ms: Spread;
    ratios: Record<string, Spread>;
    lock_wait_ms?: Spread;
    commands: { backend: string; per_purchase: number }[];
    sold_share: number;
    sell_out_s?: Spread;
    // Of all requests; absent if there were none.
    asked?: number;
    failed_share?: number; // absent: none
    busy_share?: number; // absent: none
    processor?: { services_ms?: number; servers_ms?: number; generator_ms?: number };
    latency?: { requests: number; p50_ms: number; p99_ms: number; p99_9_ms?: number; buckets: { to_ms: number; count: number }[] };
    rounds: { round: number; runs: number; sales_per_second: number }[];
  }

  /** Sales per second of one strategy beside another's. */
  interface Pair {
    faster: string;
    slower: string;
    times: number; // at least 1
    low: number; // to high: the 95 % interval; both 0 with one round
    high: number;
    rounds: number;
    apart: boolean;
  }

  /** GET /api/lab/v1/comparisons/ID/pairs */
  interface Pairs {
    with: string;
    pairs: Pair[];
  }

  interface ComparisonResult {
    machine: { os: string; arch: string; cpus: number; go: string };
    servers: Backend[];
    durability: { backend: string; name: string; value: string }[];
    settings: { concurrency: number };
    targets: string[];
    locks?: Omit<ServiceSettings, 'services'>; // that the service processes ran with; absent: not known
    floors: { id: string; title: string; concurrency: number; per_second: Spread; rounds: { per_second: number }[]; missing?: string }[];
    strategies: Entry[];
    crowds?: Entry[];
    not_run: { strategy: string; why: string }[];
    problems: string[];
  }

  interface Change {
    strategy: string;
    by: string;
    was: number;
    is: number;
    percent: number;
    verdict?: string;
    failed: boolean;
  }

  /** GET /api/lab/v1/comparisons/ID/against/OLDER */
  interface Against {
    comparable: boolean;
    differences: { setting: string; was: number; is: number }[];
    caveats: string[];
    against: { limit_percent: number; changes: Change[]; gone: string[]; added: string[] };
  }
}

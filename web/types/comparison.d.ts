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
    step: string;
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
    defaults: Omit<ComparisonSettings, 'strategies' | 'seed'>;
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
    rounds: unknown[];
  }

  interface ComparisonResult {
    machine: { os: string; arch: string; cpus: number; go: string };
    servers: Backend[];
    durability: { backend: string; name: string; value: string }[];
    targets: string[];
    locks?: Omit<ServiceSettings, 'services'>; // that the service processes ran with; absent: not known
    floors: { id: string; title: string; per_second: Spread; missing?: string }[];
    strategies: Entry[];
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

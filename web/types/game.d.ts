// The lab's JSON: games in which a person is the scheduler, and their levels.
declare namespace Json {
  interface GameBuyer {
    name: string;
    quantity: number;
    does: string;
    process: number;
    same?: string;
    other?: boolean;
  }

  /** What a game begins with. */
  interface GameSetting {
    strategy: string;
    stock: number;
    buyers: GameBuyer[];
    faults: string[];
    max_faults: number;
    renewals?: number;
  }

  interface GameCommand {
    backend: string;
    text: string;
  }

  interface GameWaiting extends GameCommand {
    why: string; // in English
    for: string[];
  }

  /** A column. */
  interface GameColumn extends GameBuyer {
    state: 'ready' | 'waits' | 'backs_off' | 'done' | 'dead';
    next: GameCommand | null;
    waiting: GameWaiting | null;
    holds: boolean;
    expired?: boolean;
    told?: string; // in English
    outcome?: string;
  }

  interface GameMove {
    move: string;
    who?: string;
    fault?: string;
    renewer?: boolean;
    switches: boolean;
    command: GameCommand | null;
  }

  interface GameStep {
    who?: string;
    fault?: string;
    renewer?: boolean;
    backend?: string;
    command?: string;
    reply?: string;
    result?: string;
    woke?: string[];
    values?: { name: string; value: string }[];
  }

  interface GameVerdict {
    broken: boolean;
    problems: { rule: string; message: string }[];
    stock: number;
    sold: number;
    told: number;
    left: number;
  }

  interface GameGrade {
    won: boolean;
    said_impossible?: boolean;
    best_moves?: number;
    searched?: number;
  }

  /** Of every call under /api/lab/v1/games. */
  interface Game {
    id: string;
    level?: string;
    setting: GameSetting;
    schedule: string;
    buyers: GameColumn[];
    moves: GameMove[];
    values: { name: string; value: string }[];
    steps: GameStep[];
    moves_made: number;
    switches: number;
    faults_left: number;
    over: boolean;
    verdict: GameVerdict | null;
    grade: GameGrade | null;
    recording?: { recorded: string; servers: string[]; turns: number; whole: boolean }; // of a site, which plays it
  }

  interface LevelText {
    title: string;
    goal: string;
    hint: string;
    solved: string;
  }

  /** Of GET /api/lab/v1/levels. */
  interface Level {
    name: string;
    number: number;
    chapter: number; // 0: none
    setting: GameSetting;
    breaks: string[];
    available: boolean;
    missing?: string[];
    text: Record<string, LevelText>;
    solution: { impossible: number /* schedules that were run to know it */; schedule: string; moves: number; switches: number };
  }
}

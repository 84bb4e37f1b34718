// The lab's JSON: classes, their learners, and solutions of levels.
declare namespace Json {
  interface Learner {
    nickname: string;
    joined: string;
    levels: Record<string, { moves: number; switches: number; impossible?: boolean; short: boolean; at: string }>;
    predictions: Record<string, { said: string; right: boolean; at: string }>;
    chapters: Record<string, string>; // when they were read
  }

  /** Of GET /api/lab/v1/classes/CODE. */
  interface Class {
    code: string;
    opened: string;
    expires: string;
    learners: Learner[];
    not_kept?: string;
  }

  /** Of GET /api/lab/v1/levels/solutions, by level. */
  interface Solution {
    impossible: boolean;
    schedule: string;
    moves: number;
    switches: number;
  }
}

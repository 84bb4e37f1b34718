// 实验室在游戏里给出的理由（中文）：为什么等待，为什么不能玩。没有译文的显示原文。
/** @type {[RegExp, string][]} */
export default [
  [/^waits for the lock (\S+) on ([^,]+), index (.+)$/, '在等 $2 的索引 $3 上的锁 $1'],
  [/^waits for the lock (\S+) on ([^,]+)$/, '在等 $2 上的锁 $1'],
  [/^the server's list of processes says: User lock \(GET_LOCK\)$/, '服务器的进程列表说：User lock（GET_LOCK）'],
  [/^a game needs a real MySQL or MariaDB: install one \(seckill doctor says how\)$/, '游戏需要真正的 MySQL 或 MariaDB：请安装（做法见 seckill doctor）'],
  [/^a game asks the servers which sessions wait, and an embedded (\S+) cannot answer that: install a real one \(seckill doctor says how\)$/, '游戏要问服务器哪些会话在等待，内嵌的 $1 答不上来：请安装真正的（做法见 seckill doctor）'],
  [/^waits in its own process: nothing has been sent to wake it$/, '在自己的进程里等待，还没有什么来唤醒它'],
  [/^the SQL server counts it among those that wait for a lock$/, '数据库把它算作在等锁的连接'],
  [/^Redis counts it among its blocked clients$/, 'Redis 把它算作被阻塞的客户端'],
  [/^the server has not answered$/, '服务器还没有答复'],
  [/^pauses, and tries again when another has changed something$/, '停下来，别人改变了什么之后再试'],
];

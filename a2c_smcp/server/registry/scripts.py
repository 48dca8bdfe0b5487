"""Lua scripts, each an atomic step in Redis, and the format of members there.

Keys, behind a prefix (`a2c` by default):

    a2c:state        hash          epoch → when this data began; settled → until when new joins are refused
    a2c:nodes        sorted set    node → when its lease ends, in milliseconds of Redis's own clock
    a2c:o:<office>   hash          a (the Agent) or c:<name> (a Computer) → sid|node|stamp|version|owner|name
    a2c:w:<office>   hash          node → how many members of the office it has
    a2c:n:<node>     hash          sid|office → the member's field in that office: removed when the node dies
    a2c:bus:<node>   channel       messages of other nodes for this one

A script that changes an office publishes the change to every node with members there in the same step, so all nodes
see the changes in order. A member is fenced twice: only its own connection (sid) removes it, and a late command from
before the connection joined again does nothing (stamp).

Redis may lose all data at any time. A node that was registered before the loss notices the new epoch; from then on new
joins are refused until every lease that a node may still rely on is over. Members that nodes register again are
accepted immediately.
"""

from dataclasses import dataclass
from hashlib import sha1
from typing import Final

from a2c_smcp.server.offices import Member
from a2c_smcp.types import Role


@dataclass(frozen=True, slots=True)
class LuaScript:
    """A Lua script and its name in Redis."""

    source: str

    @property
    def sha(self) -> str:
        """The digest for EVALSHA."""
        return sha1(self.source.encode(), usedforsecurity=False).hexdigest()


_COMMON: Final = """
local prefix = ARGV[1]
local nodes = prefix .. ':nodes'
local state = prefix .. ':state'
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function publish(office, except, message)
  local text = cjson.encode(message)
  for _, node in ipairs(redis.call('HKEYS', prefix .. ':w:' .. office)) do
    if node ~= except then redis.call('PUBLISH', prefix .. ':bus:' .. node, text) end
  end
end
local function parts(value)
  local sid, node, stamp = string.match(value, '^([^|]*)|([^|]*)|(%d+)|')
  return sid, node, tonumber(stamp)
end
local function free(node, office, field, value)
  local where = prefix .. ':w:' .. office
  redis.call('HDEL', prefix .. ':o:' .. office, field)
  if redis.call('HINCRBY', where, node, -1) <= 0 then redis.call('HDEL', where, node) end
  publish(office, node, {'left', office, field, value})
end
-- Remove members of a node: the named ones, unless they joined again since, or a batch of all.
-- Returns how many were checked.
local function clear(node, seats, stamp)
  local index = prefix .. ':n:' .. node
  if not seats then
    seats = {}
    local cursor, found = '0', nil
    repeat -- a scan step over a hash that has shrunk may return nothing
      cursor, found = unpack(redis.call('HSCAN', index, cursor, 'COUNT', 200))
      for i = 1, #found, 2 do seats[#seats + 1] = found[i] end
    until #seats > 0 or cursor == '0'
  end
  for _, seat in ipairs(seats) do
    local sid, office = string.match(seat, '^([^|]*)|(.*)$')
    local field = redis.call('HGET', index, seat)
    local held = field and redis.call('HGET', prefix .. ':o:' .. office, field)
    local holder, _, since = parts(held or '||0|')
    if holder ~= sid or not stamp or since <= stamp then
      if holder == sid then free(node, office, field, held) end
      redis.call('HDEL', index, seat)
    end
  end
  return #seats
end
"""

JOIN: Final = LuaScript(
    _COMMON
    + """
-- node, office, field, sid, stamp, value, whether to announce it, whether to list the office
local node, office, field, sid, stamp, value = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local seats = prefix .. ':o:' .. office
if not redis.call('ZSCORE', nodes, node) then return {'lost'} end
local held = redis.call('HGET', seats, field)
if held then
  local holder, at, since = parts(held)
  if holder ~= sid then
    if at == node then return {'taken'} end
    local lease = redis.call('ZSCORE', nodes, at)
    if not lease then redis.call('ZADD', nodes, 0, at) end
    return {(lease and tonumber(lease) >= now()) and 'taken' or 'dead'}
  end
  if since < stamp then redis.call('HSET', seats, field, value) end
  redis.call('HSET', prefix .. ':n:' .. node, sid .. '|' .. office, field)
else
  local wait = ARGV[8] ~= '1' and tonumber(redis.call('HGET', state, 'settled') or '0') - now() or 0
  if wait > 0 then return {'early', wait} end
  redis.call('HSET', seats, field, value)
  redis.call('HINCRBY', prefix .. ':w:' .. office, node, 1)
  redis.call('HSET', prefix .. ':n:' .. node, sid .. '|' .. office, field)
  publish(office, node, {'joined', office, field, value, ARGV[8] == '1'})
end
if ARGV[9] == '1' then return {'ok', redis.call('HGETALL', seats)} end
return {'ok'}
"""
)
"""Add a member.

Returns `ok` (and the members of the office), `taken`, `dead` (taken by a node whose lease is over), `lost` (our lease
is), or `early` (Redis lost its data recently: try again after so many milliseconds).
"""

RELEASE: Final = LuaScript(
    _COMMON
    + """
-- node, office, field, sid, stamp
local node, office, field, sid, stamp = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local held = redis.call('HGET', prefix .. ':o:' .. office, field)
local holder, _, since = parts(held or '||0|')
if holder == sid and since > stamp then return 0 end
redis.call('HDEL', prefix .. ':n:' .. node, sid .. '|' .. office)
if holder ~= sid then return 0 end
free(node, office, field, held)
return 1
"""
)
"""Remove a member, if it is on this connection."""

RENEW: Final = LuaScript(
    _COMMON
    + """
-- node, milliseconds, the epoch that the node knows
local lease = redis.call('ZSCORE', nodes, ARGV[2])
local time = now()
local epoch = redis.call('HGET', state, 'epoch')
if not epoch then
  epoch = string.format('%.0f', time) .. '|' .. ARGV[2]
  redis.call('HSET', state, 'epoch', epoch)
end
if ARGV[4] ~= '' and ARGV[4] ~= epoch then
  local settled = tonumber(string.match(epoch, '^%d+')) + tonumber(ARGV[3])
  if settled > tonumber(redis.call('HGET', state, 'settled') or '0') then
    redis.call('HSET', state, 'settled', string.format('%.0f', settled))
  end
end
redis.call('ZADD', nodes, time + tonumber(ARGV[3]), ARGV[2])
local dead = redis.call('ZCOUNT', nodes, '-inf', '(' .. time)
local alive = lease and tonumber(lease) >= time
return {lease and 1 or 0, alive and 1 or 0, redis.call('HLEN', prefix .. ':n:' .. ARGV[2]), dead, epoch}
"""
)
"""Renew the lease.

Returns whether Redis knew the node, whether its lease was valid, how many members it has, how many other nodes are
dead, and the epoch.
"""

REAP: Final = LuaScript(
    _COMMON
    + """
-- node
local expired = redis.call('ZRANGEBYSCORE', nodes, '-inf', '(' .. now(), 'LIMIT', 0, 2)
local dead = expired[1] == ARGV[2] and expired[2] or expired[1]
if not dead or dead == ARGV[2] then return false end
if clear(dead) == 0 then redis.call('ZREM', nodes, dead) end
return dead
"""
)
"""Remove a batch of members of one dead node, and the node when none is left. Returns its name; nil: none is dead."""

CLEAR: Final = LuaScript(
    _COMMON
    + """
-- node, the latest stamp, seats (sid|office) …; without any: all, a part at a time, and at last the lease
local node, seats = ARGV[2], {}
for i = 4, #ARGV do seats[#seats + 1] = ARGV[i] end
if #seats > 0 then return clear(node, seats, tonumber(ARGV[3])) end
local looked = clear(node)
if looked == 0 then
  redis.call('ZREM', nodes, node)
  if redis.call('ZCARD', nodes) == 0 then redis.call('HDEL', state, 'epoch', 'settled') end
end
return looked
"""
)
"""Remove members of this node."""

SCRIPTS: Final = (JOIN, RELEASE, RENEW, REAP, CLEAR)

AGENT_FIELD: Final = "a"


def field_of(member: Member) -> str:
    """Return the field of a member in the hash of its office."""
    return AGENT_FIELD if member.role == "agent" else computer_field(member.name)


def computer_field(name: str) -> str:
    """Return the field of a Computer in the hash of its office."""
    return f"c:{name}"


def pack_member(member: Member, stamp: int) -> str:
    """Return a member in its Redis format; the name is last, because it may hold any character."""
    return f"{member.sid}|{member.node}|{stamp}|{member.version or ''}|{member.owner}|{member.name}"


def unpack_member(office_id: str, field: str, value: str) -> Member:
    """Return the member that `pack_member` encoded for that field of that office."""
    sid, node, _, version, owner, name = value.split("|", 5)
    role: Role = "agent" if field == AGENT_FIELD else "computer"
    return Member(office_id, role, name, sid, node, version or None, owner)


def unpack_members(office_id: str, found: dict[bytes, bytes] | list[bytes]) -> list[Member]:
    """Return the members of an office, the Agent first, then Computers by name; Lua returns a list, HGETALL a dict."""
    pairs = found.items() if isinstance(found, dict) else zip(found[::2], found[1::2], strict=True)
    return [unpack_member(office_id, field.decode(), value.decode()) for field, value in sorted(pairs)]

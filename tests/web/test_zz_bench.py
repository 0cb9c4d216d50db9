import asyncio, time, cProfile, pstats
from typing import Any
from afterword import app, db
from afterword.web.limits import Limits
from tests.web.conftest import routes, House, Echo
from afterword.web.operations import Routes, Answer
import msgspec
r2 = Routes(tag="x")
from tests.web.conftest import NoteRequest, Note
async def shared(call, pool): return Answer(Echo(words=["a"]), version=1, location="/x/y")
@r2.post("/nop/{note_id}/a/{b}/c", scope="Tag.Create", summary="x", body=NoteRequest, answer=Echo, shared=shared)
async def nop(call, database): return Answer(Echo(words=["a"]), version=1)
async def test_bench(notes: House):
    asgi: Any = app.create_app(pool=notes.pool, site=notes.site, routes=[routes, r2], limits=Limits(10**9,10**9,60))
    body=b'{"title":"one","locale":"el","send_time":"2027-01-15T10:30:00+02:00","metadata":{"questionnaire":{"transaction_id":"1042 (XKBK)","transaction_date":"2026-11-20 18:02:11"},"responder":{"email":"ann@example.com","phone_number":"+306900000000"}}}'
    hs=[(b"host",b"testserver"),(b"authorization",f"Bearer {notes.token}".encode()),(b"content-type",b"application/json"),(b"content-length",str(len(body)).encode()),(b"accept",b"*/*"),(b"user-agent",b"x")]
    async def one(method,path,body=b"",hs=hs,query=b""):
        out=[]
        async def receive(): return {"type":"http.request","body":body,"more_body":False}
        async def send(m): out.append(m)
        await asgi({"type":"http","asgi":{"version":"3.0"},"http_version":"1.1","method":method,"path":path,"raw_path":path.encode(),"root_path":"","scheme":"http","query_string":query,"headers":hs,"client":("127.0.0.1",1),"server":("x",80),"state":{}},receive,send)
        return out
    gh=hs[:2]
    idn="0"*22
    for label,args in {"nop post":("POST",f"/v3.2/nop/{idn}/a/{idn}/c",body),"post":("POST","/v3.2/note",body),"get 404 route":("GET","/v3.2/nowhere",b"",gh),"list":("GET","/v3.2/note/bare",b"",gh,b"limit=50")}.items():
        o=await one(*args); print(label,o[0]["status"], o[1]["body"][:100])
        t=time.perf_counter(); c=time.process_time(); n=2000 if label!="list" else 300
        for _ in range(n): await one(*args)
        print(label,"us/request wall",(time.perf_counter()-t)/n*1e6,"cpu",(time.process_time()-c)/n*1e6)
    p=cProfile.Profile(); p.enable()
    for _ in range(2000): await one("POST",f"/v3.2/nop/{idn}/a/{idn}/c",body)
    p.disable(); pstats.Stats(p).sort_stats("tottime").print_stats(25)

def test_x(kept):
    from library.verify import verify
    r = verify(kept)
    print(r)
    assert r.ok

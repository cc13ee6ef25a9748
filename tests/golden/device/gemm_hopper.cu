struct __align__(64) stria_map { unsigned long long words[16]; };
static __device__ __forceinline__ unsigned stria_address(const void* at) {
  unsigned out;
  asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(out) : "l"(at));
  return out;
}
static __device__ __forceinline__ void stria_init(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(count));
}
static __device__ __forceinline__ void stria_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}
static __device__ __forceinline__ void stria_wait(unsigned barrier, unsigned parity) {
  unsigned done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
                 " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  } while (!done);
}
static __device__ __forceinline__ void stria_copy(unsigned to, const stria_map* map, int x, int y,
                                                  unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(barrier), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
static __device__ __forceinline__ unsigned long long stria_descriptor(unsigned at) {
  return (unsigned long long)((at & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
static __device__ __forceinline__ unsigned short stria_half(float x) {
  unsigned short out;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(x));
  return out;
}
static __device__ __forceinline__ unsigned stria_halves(float first, float second) {
  unsigned out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
static __device__ __forceinline__ void stria_product_256(float (&d)[128],
    unsigned long long left, unsigned long long right) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(left), "l"(right));
}

extern "C" __global__ void __launch_bounds__(384, 1)
k0_gemm(const __grid_constant__ stria_map map_A, const __grid_constant__ stria_map map_B, unsigned short* __restrict__ C)
{
  extern __shared__ __align__(1024) unsigned char stria_shared[];
  const unsigned shared = stria_address(stria_shared);
  const int m_0 = blockIdx.y;
  const int n_1 = blockIdx.x;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 4; ++i) stria_init(shared + 196608 + 8 * i, 2);
    for (int i = 0; i < 4; ++i) stria_init(shared + 196640 + 8 * i, 8);
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  if (group >= 0 && group < 1) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (int q_2 = 0; q_2 < 16; ++q_2) {
      for (int s_3 = 0; s_3 < 4; ++s_3) {
        stria_wait(shared + 196640 + 8 * (s_3), (q_2 - 1) & 1);
        if (threadIdx.x % 128 == 0)
          stria_copy(shared + 0 + 2 * (8192*s_3), &map_A, 256*q_2 + 64*s_3, 128*m_0, shared + 196608 + 8 * (s_3), 16384);
        if (threadIdx.x % 128 == 0)
          stria_copy(shared + 65536 + 2 * (16384*s_3), &map_B, 256*q_2 + 64*s_3, 256*n_1, shared + 196608 + 8 * (s_3), 32768);
      }
    }
  }
  if (group >= 1 && group < 3) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int w_4 = (group - 1);
    float acc[128];
    {
      const int wm_5 = warp;
      const int c_6 = lane / 1 % 4;
      const int r_7 = lane / 4 % 8;
      #pragma unroll
      for (int h_8 = 0; h_8 < 2; ++h_8) {
        #pragma unroll
        for (int j_9 = 0; j_9 < 32; ++j_9) {
          #pragma unroll
          for (int v_10 = 0; v_10 < 2; ++v_10) {
            const float z_11 = 0.00000000f;
            acc[0 + 1 * (((8*j_9 + v_10) >> 0) & 1) + 2 * (((8*h_8) >> 3) & 1) + 4 * (((8*j_9 + v_10) >> 3) & 31)] = z_11;
          }
        }
      }
    }
    for (int q_12 = 0; q_12 < 16; ++q_12) {
      for (int s_13 = 0; s_13 < 4; ++s_13) {
        stria_wait(shared + 196608 + 8 * (s_13), (q_12) & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        #pragma unroll
        for (int kk_14 = 0; kk_14 < 4; ++kk_14) {
          stria_product_256(acc, stria_descriptor(shared + 0 + 2 * (16*kk_14 + 8192*s_13 + 4096*w_4)), stria_descriptor(shared + 65536 + 2 * (16*kk_14 + 16384*s_13)));
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncwarp();
        if (lane == 0) stria_arrive(shared + 196640 + 8 * (s_13));
      }
    }
    {
      const int wm_15 = warp;
      const int c_16 = lane / 1 % 4;
      const int r_17 = lane / 4 % 8;
      #pragma unroll
      for (int h_18 = 0; h_18 < 2; ++h_18) {
        #pragma unroll
        for (int j_19 = 0; j_19 < 32; ++j_19) {
          *reinterpret_cast<unsigned*>(&C[2*c_16 + 32768*h_18 + 8*j_19 + 524288*m_0 + 256*n_1 + 4096*r_17 + 262144*w_4 + 65536*wm_15]) = stria_halves(acc[0 + 1 * (((8*j_19) >> 0) & 1) + 2 * (((8*h_18) >> 3) & 1) + 4 * (((8*j_19) >> 3) & 31)], acc[0 + 1 * (((8*j_19 + 1) >> 0) & 1) + 2 * (((8*h_18) >> 3) & 1) + 4 * (((8*j_19 + 1) >> 3) & 31)]);
        }
      }
    }
  }
}
